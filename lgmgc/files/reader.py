"""Paths to documents: what a folder holds, and bytes to text without altering a character."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError

SUFFIXES = (".txt", ".md")
"""What is read in a folder, in capitals too; a file named by itself may be called anything."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like that of UTF-16, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Source:
    r"""A place that a document is read from.

    Attributes:
        id: the document's: the path as it was typed, with "/" between folders on every system, or
            "-" for standard input. Bytes of a name that are no text are written as ``\xNN``.
        path: None for standard input.
        size: bytes when it was found; 0 for standard input.
    """

    id: str
    path: Path | None
    size: int


def find(paths: Sequence[str]) -> list[Source]:
    """Turn what the user typed into places to read, in the order typed.

    A folder stands for the .txt and .md files in it and below, sorted by path; hidden files and
    folders are left out, and links to folders are not followed, since they may lead in a circle.
    A path that comes up twice, also as ``a.txt`` and ``./a.txt``, is read once, under the name
    that came first. Two links to one file are two paths, so two documents.

    Args:
        paths: files, folders, or "-" for standard input.

    Raises:
        UsageError: a path does not exist or cannot be looked into, or a folder holds no text.
    """
    found: dict[str, Source] = {}
    for typed in paths:
        for name in _expand(typed):
            # Links are left alone: resolved, a link's document would vanish behind its target's.
            found.setdefault(name if name == "-" else os.path.abspath(name), _source(name))  # noqa: PTH100
    return list(found.values())


def read(source: Source, encoding: str = "utf-8", errors: str = "strict") -> Document:
    """Read one document.

    The text is what the bytes say: line ends stay as they are, and a UTF-8 byte order mark stays as
    the first character (law 1); ``encoding="utf-8-sig"`` leaves the mark out.

    Args:
        source: from `find`.
        encoding: a text encoding that Python knows.
        errors: "strict", or "replace" to put U+FFFD in the place of what cannot be decoded.

    Raises:
        DocumentError: it cannot be read, is no regular file, is binary or in another encoding.
    """
    data = _standard_input() if source.path is None else _bytes(source.id, source.path)
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        _refuse_foreign(source.id, data)
    try:
        text = data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source.id}: byte 0x{data[error.start]:02X} at offset {error.start} is not valid "
            f"{encoding}; give the file's own encoding (--encoding cp1252 or latin-1 are common), "
            "or --errors replace"
        ) from None
    except UnicodeError as error:
        raise DocumentError(f"{source.id}: is not valid {encoding} ({error})") from None
    return Document(source.id, text)


def check_encoding(encoding: str) -> None:
    """Refuse a name that is no text encoding, before any document is read.

    Raises:
        UsageError: Python knows no text encoding of that name.
    """
    try:
        b"a".decode(encoding)
    except UnicodeError:
        pass  # known; one byte by itself may well be invalid, as in UTF-16
    except (LookupError, ValueError):
        raise UsageError(
            f"no text encoding is called {encoding!r}; utf-8, utf-16, cp1252 and latin-1 are common"
        ) from None


def _expand(typed: str) -> Iterator[str]:
    if typed == "-":
        yield typed
        return
    try:
        mode = os.stat(typed).st_mode  # noqa: PTH116 - Path("") is the current folder
    except (OSError, ValueError) as error:
        _refuse(error, typed)
    if not stat.S_ISDIR(mode):
        yield typed
        return
    names = sorted(_texts(typed), key=lambda name: Path(name).parts)
    if not names:
        raise UsageError(f"{typed}: the folder holds no {' or '.join(SUFFIXES)} file")
    yield from names


def _texts(folder: str) -> Iterator[str]:
    for inside, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith(".") and name.lower().endswith(SUFFIXES):
                yield os.path.join(inside, name)  # noqa: PTH118 - keeps "./" as it was typed


def _refuse(error: OSError | ValueError, typed: str = "") -> NoReturn:
    if isinstance(error, FileNotFoundError):
        raise UsageError(f"{typed or error.filename}: no such file or folder") from None
    reason = (error.strerror if isinstance(error, OSError) else None) or error
    name = typed or getattr(error, "filename", None)
    raise UsageError(f"{name}: cannot be looked into ({reason})") from None


def _source(name: str) -> Source:
    if name == "-":
        return Source(name, None, 0)
    path = Path(name)
    readable = os.fsencode(name).decode("utf-8", "backslashreplace").replace(os.sep, "/")
    try:
        size = path.stat().st_size
    except OSError:  # gone since, or a link to nothing: reading it will say so
        size = 0
    return Source(readable, path, size)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise DocumentError("-: standard input is closed; give a file, or pipe text in")
    return sys.stdin.buffer.read()


def _bytes(name: str, path: Path) -> bytes:
    try:
        # A pipe or device could keep the run waiting for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise DocumentError(f"{name}: is not a regular file; pipe text in with - as the path")
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{name}: cannot be read ({error.strerror or error})") from None
    except MemoryError:
        raise DocumentError(f"{name}: does not fit in memory; split the file") from None


def _refuse_foreign(name: str, data: bytes) -> None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise DocumentError(f"{name}: is {encoding.upper()}; give --encoding {encoding}")
    if (offset := data.find(0)) >= 0:
        raise DocumentError(
            f"{name}: holds a zero byte at offset {offset}, so it is binary and no text (or UTF-16 "
            "without a mark: --encoding utf-16-le)"
        )
