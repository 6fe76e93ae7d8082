"""Paths to sources: what a folder holds; and bytes to text without altering a character."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.files.raw import content
from lgmgc.files.source import GZ, Source

__all__ = ["SUFFIXES", "Source", "check_encoding", "decoded", "find", "read"]

_TEXTS = (".txt", ".md", ".html", ".htm", ".jsonl", ".csv")
SUFFIXES = (
    *_TEXTS,
    *(suffix + GZ for suffix in _TEXTS),
    *(".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".parquet"),
)
"""What is read in a folder, in capitals too; a file named by itself may be called anything."""

MANIFEST = ".manifest.json"
"""What a manifest's name adds to that of the output it stands beside."""

_READ = [suffix for suffix in SUFFIXES if not suffix.endswith(GZ)]

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like that of UTF-16, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def find(paths: Sequence[str]) -> list[Source]:
    """Turn what the user typed into places to read, in the order typed.

    A folder stands for the files in it and below that have one of `SUFFIXES`, sorted by path;
    hidden files and folders are left out, and links to folders are not followed, since they may
    lead in a circle. A path that comes up twice, also as ``a.txt`` and ``./a.txt``, is read once,
    under the name that came first. Two links to one file are two paths, so two documents.

    Args:
        paths: files, folders, or "-" for standard input.

    Raises:
        UsageError: a path does not exist or cannot be looked into, or a folder holds nothing that
            is read.
    """
    found: dict[str, Source] = {}
    for typed in paths:
        for name in _expand(typed):
            # Links are left alone: resolved, a link's document would vanish behind its target's.
            found.setdefault(name if name == "-" else os.path.abspath(name), _source(name))  # noqa: PTH100
    return list(found.values())


def read(source: Source, encoding: str = "utf-8", errors: str = "strict") -> Document:
    """Read a document that is plain text, whatever the source is called.

    Args:
        source: from `find`.
        encoding: a text encoding that Python knows.
        errors: "strict", or "replace" to put U+FFFD in the place of what cannot be decoded.

    Raises:
        DocumentError: see `decoded`.
    """
    return Document(source.id, decoded(source, encoding, errors))


def decoded(source: Source, encoding: str, errors: str) -> str:
    """Give the text that the bytes of a source say.

    Line ends stay as they are, and a UTF-8 byte order mark stays as the first character (law 1);
    ``encoding="utf-8-sig"`` leaves the mark out.

    Args:
        source: see `read`.
        encoding: see `read`.
        errors: see `read`.

    Raises:
        DocumentError: it cannot be read, is no regular file, is binary or in another encoding.
    """
    data = content(source)
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        _refuse_foreign(source.id, data)
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source.id}: byte 0x{data[error.start]:02X} at offset {error.start} is not valid "
            f"{encoding}; give the file's own encoding (--encoding cp1252 or latin-1 are common), "
            "or --errors replace"
        ) from None
    except UnicodeError as error:
        raise DocumentError(f"{source.id}: is not valid {encoding} ({error})") from None


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
        raise UsageError(f"{typed}: the folder holds no file that is read ({', '.join(_READ)})")
    yield from names


def _texts(folder: str) -> Iterator[str]:
    for inside, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        there = set(files)
        for name in files:
            # Chunks that lgmgc wrote into the folder are no documents.
            whole = f"chunks{MANIFEST}" if name.startswith("part-") else f"{name}{MANIFEST}"
            written = whole in there
            if not name.startswith(".") and name.lower().endswith(SUFFIXES) and not written:
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


def _refuse_foreign(name: str, data: bytes) -> None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise DocumentError(f"{name}: is {encoding.upper()}; give --encoding {encoding}")
    if (offset := data.find(0)) >= 0:
        raise DocumentError(
            f"{name}: holds a zero byte at offset {offset}, so it is binary and no text (or UTF-16 "
            "without a mark: --encoding utf-16-le)"
        )
