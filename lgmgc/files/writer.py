"""Trees to JSON lines, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Protocol, Self

from lgmgc.document import Chunk, Tree
from lgmgc.errors import UsageError

# JSON allows these raw, but programs that split text into lines (Python's splitlines, some
# editors) take them for line ends. Escaped, every row is one line for everybody.
_LINE_ENDS = {"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def rows(tree: Tree) -> Iterator[bytes]:
    """Write a tree's chunks as JSON lines in UTF-8: document order, a parent before its children.

    Each has `id, document, parent, level, start, end, words, score, window, view, text`. `parent`
    is the id of the level 0 chunk it is a piece of, null for a level 0 chunk itself. `score` has
    four decimals; it is null where no model gave one, and where it is infinite or NaN, which JSON
    cannot say. `window` (start and end) and `view` are null but for the methods that make them.
    """
    for parent in tree.parents:
        yield _row(parent, None)
        for child in parent.children:
            yield _row(child, parent.id)


class Output(Protocol):
    """Where rows go."""

    def write(self, data: bytes) -> None:
        """Add bytes."""
        ...

    def flush(self) -> None:
        """Let a reader at the other end see what was written so far."""
        ...


class WholeFile:
    """A file that appears whole under its name, or not at all (law 7, "Crash-safe").

    Bytes go to a hidden temporary file in the same folder, which `commit` renames. Left without a
    commit, by an exception or otherwise, it is removed; a process that is killed leaves at most the
    temporary `.NAME.XXXX.tmp`, and what stood under the name before stays. The file can be read
    and written by its owner only (mode 0600), for chunks are as private as their documents.

        with WholeFile(Path("out.jsonl")) as file:
            file.write(b"...")
            file.commit()
    """

    def __init__(self, path: Path) -> None:
        """Create the temporary file, so that a place that cannot be written to is known at once.

        Args:
            path: the final name. A link is followed, and what it points to is replaced.

        Raises:
            UsageError: the folder is missing or not writable, the disk is full, or there is
                something of that name which is not a regular file (a folder, a device).
        """
        self.path = path
        self._digest = hashlib.sha256()
        self._finished = False
        try:
            self._target = path.resolve()
            if self._target.exists() and not stat.S_ISREG(self._target.stat().st_mode):
                raise UsageError(f"{path}: is not a regular file; choose another name for --out")
            descriptor, name = tempfile.mkstemp(
                prefix=f".{self._target.name}.", suffix=".tmp", dir=self._target.parent
            )
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            self._refuse(error)
        self._temporary = Path(name)
        self._file = os.fdopen(descriptor, "wb")

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            UsageError: the disk is full or fails.
        """
        self._digest.update(data)
        try:
            self._file.write(data)
        except OSError as error:
            self._refuse(error)

    def flush(self) -> None:
        """Do nothing: nobody reads the temporary file."""

    @property
    def sha256(self) -> str:
        """Of all that was written so far, 64 hexadecimal digits."""
        return self._digest.hexdigest()

    def finish(self) -> None:
        """Bring all bytes to the disk; after this only the rename is left to fail.

        Raises:
            UsageError: the disk is full or fails.
        """
        if self._finished:
            return
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        except OSError as error:
            self._refuse(error)
        self._finished = True

    def commit(self) -> None:
        """Give the file its name, in place of what had it before.

        Raises:
            UsageError: the disk is full or fails.
        """
        self.finish()
        try:
            self._temporary.replace(self._target)
        except OSError as error:
            self._refuse(error)
        _sync_folder(self._target.parent)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the temporary file unless it was committed."""
        with contextlib.suppress(OSError):  # closing writes what a full disk refused before
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    def _refuse(self, error: Exception) -> NoReturn:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise UsageError(
            f"{self.path}: cannot be written ({reason}); make room or a folder there that may be "
            "written to, or choose another place for --out"
        ) from error


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


def _row(chunk: Chunk, parent: str | None) -> bytes:
    scored = chunk.score is not None and math.isfinite(chunk.score)
    row = {
        "id": chunk.id,
        "document": chunk.document.id,
        "parent": parent,
        "level": chunk.level,
        "start": chunk.start,
        "end": chunk.end,
        "words": chunk.words,
        # Adding 0.0 turns -0.0 into 0.0.
        "score": round(float(chunk.score), 4) + 0.0 if scored and chunk.score is not None else None,
        "window": chunk.window,
        "view": chunk.view,
        "text": chunk.text,
    }
    line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    for end, escaped in _LINE_ENDS.items():
        line = line.replace(end, escaped)
    return line.encode("utf-8") + b"\n"


def _sync_folder(folder: Path) -> None:
    """Make a rename outlast a power cut, where the system can do that to a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
