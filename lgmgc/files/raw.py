"""The bytes of a source, unpacked where it is packed with gzip."""

from __future__ import annotations

import gzip
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

from lgmgc.errors import DocumentError
from lgmgc.files.source import Source

UNPACKED = 1 << 28
"""Bytes that a packed text may hold, 256 MiB: a few kilobytes can unpack to more than a disk."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An open source.

    Attributes:
        file: its bytes, unpacked.
        tell: how many of the source's own bytes were read, for progress.
    """

    file: BinaryIO
    tell: Callable[[], int]


@contextmanager
def opened(source: Source) -> Iterator[Raw]:
    """Open a file for reading; errors of reading it, too, become a refusal.

    Raises:
        DocumentError: it cannot be read, is no regular file, or is not what gzip made.
    """
    assert source.path is not None
    try:
        # A pipe or device could keep the run waiting for ever.
        if not stat.S_ISREG(source.path.stat().st_mode):
            raise DocumentError(
                f"{source.id}: is not a regular file; pipe text in with - as the path"
            )
        with source.path.open("rb") as file:
            unpacked = gzip.GzipFile(fileobj=file) if source.packed else file
            yield Raw(cast(BinaryIO, unpacked), file.tell)
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise DocumentError(f"{source.id}: is damaged, or no gzip file; copy it again") from None
    except OSError as error:
        raise DocumentError(f"{source.id}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise DocumentError(f"{source.id}: does not fit in memory; split the file") from None


def content(source: Source) -> bytes:
    """Read all of a file, or of standard input.

    Raises:
        DocumentError: see `opened`; or it unpacks to more than `UNPACKED`.
    """
    if source.path is None:
        if sys.stdin is None:
            raise DocumentError("-: standard input is closed; give a file, or pipe text in")
        return sys.stdin.buffer.read()
    with opened(source) as raw:
        if not source.packed:
            return raw.file.read()
        data = raw.file.read(UNPACKED + 1)
    if len(data) > UNPACKED:
        raise DocumentError(
            f"{source.id}: unpacks to more than {UNPACKED >> 20} MiB; unpack and split it first"
        )
    return data
