"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from lgmgc.errors import UsageError


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
        self._target = resolved(path)
        try:
            descriptor, name = tempfile.mkstemp(
                prefix=f".{self._target.name}.", suffix=".tmp", dir=self._target.parent
            )
        except OSError as error:
            refuse(path, error)
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
            refuse(self.path, error)

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
            refuse(self.path, error)
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
            refuse(self.path, error)
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


def resolved(path: Path) -> Path:
    """Follow links to where a file is, or would be made.

    Raises:
        UsageError: there is something of that name which is not a regular file.
    """
    try:
        target = path.resolve()
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise UsageError(f"{path}: is not a regular file; choose another name")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        refuse(path, error)
    return target


def remove_left(target: Path) -> None:
    """Remove temporary files that killed runs left beside a file; no other may be writing it."""
    with contextlib.suppress(OSError):
        for left in target.parent.iterdir():
            if left.name.startswith(f".{target.name}.") and left.suffix == ".tmp":
                left.unlink(missing_ok=True)


def refuse(path: Path, error: Exception) -> NoReturn:
    """Tell that a file cannot be written.

    Raises:
        UsageError: always.
    """
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    raise UsageError(
        f"{path}: cannot be written ({reason}); make room or a folder there that may be "
        "written to, or choose another place"
    ) from error


def _sync_folder(folder: Path) -> None:
    """Make a rename outlast a power cut, where the system can do that to a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
