"""Bytes for whoever reads this process's standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from lgmgc.errors import UsageError


class StandardOutput:
    """Rows for whoever reads this process's standard output."""

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            BrokenPipeError: the reader has gone.
            UsageError: standard output is closed or cannot take them.
        """
        if sys.stdout is None:
            raise UsageError("standard output is closed; give --out FILE.jsonl")
        with self._guarded():
            sys.stdout.buffer.write(data)

    def flush(self) -> None:
        """Let the reader see what was written so far.

        Raises:
            BrokenPipeError: the reader has gone.
            UsageError: standard output cannot take it.
        """
        if sys.stdout is not None:
            with self._guarded():
                sys.stdout.buffer.flush()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # Python writes what is left once more when it ends, and would complain: let it go.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
            if isinstance(error, BrokenPipeError):
                raise
            raise UsageError(
                f"standard output cannot be written ({error.strerror or error}); give --out"
            ) from error
