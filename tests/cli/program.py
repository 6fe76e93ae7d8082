"""Run the program `lgmgc` as a user does: in this process, or in one of its own for signals."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from lgmgc.cli.app import main


@dataclass(frozen=True)
class Done:
    status: int
    out: bytes
    err: str


def run(*arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run in this process, which saves the start-up; the streams are real, on memory."""
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")]
    given, out, err = streams
    before = signal.getsignal(signal.SIGTERM)
    try:
        with (
            mock.patch.multiple(sys, argv=["lgmgc", *map(str, arguments)]),
            mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
        ):
            main()
        status: object = 0
    except SystemExit as end:
        status = end.code or 0
    finally:
        signal.signal(signal.SIGTERM, before)
    assert isinstance(status, int)
    out.flush()
    err.flush()
    return Done(status, _written(out), _written(err).decode())


def start(
    *arguments: str | Path,
    stdout: int = subprocess.PIPE,
    before: Callable[[], None] | None = None,
    environment: Sequence[tuple[str, str]] = (),
) -> subprocess.Popen[bytes]:
    """Start in a process of its own, all three streams piped unless told otherwise."""
    return subprocess.Popen(
        [sys.executable, "-c", "from lgmgc.cli.app import main; main()", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=before,
        env={**os.environ, **dict(environment)},
    )


def _written(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()
