"""Zip archives that hold a document: what is opened is known to be small, and plain XML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from contextlib import suppress
from xml.parsers import expat

from lgmgc.errors import DocumentError
from lgmgc.files.formats.refusals import damaged
from lgmgc.files.source import Source

MARKUP = 1 << 26
"""Bytes of markup that a document may hold, 64 MiB: parsed, they take many times that."""
_XML = (".xml", ".rels", ".opf")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # that these formats allow
_OLE = b"\xd0\xcf\x11\xe0"  # how Office files begin that are locked, or older than 2007


def safe(source: Source, data: bytes, wanted: Callable[[str], bool]) -> io.BytesIO:
    """Copy an archive, with nothing in it that can harm who opens it.

    Images and the like are emptied, unseen: they hold no text, and the libraries would unpack them,
    as often as they are shown. What is left is at most `MARKUP` bytes by the archive's own
    directory, beyond which Python's zipfile does not unpack. No XML declares entities, which can
    stand for a million times their size or for a file of this machine.

    Args:
        source: where it is from.
        data: its bytes.
        wanted: whether a part of that name is kept.

    Raises:
        DocumentError: it is damaged, locked, too large, or declares entities.
    """
    if data.startswith(_OLE):
        raise DocumentError(
            f"{source.id}: is locked with a password, or of the format before 2007; save it as "
            f"{source.suffix} without a password"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _copy(source, archive, wanted)
    except DocumentError:
        raise
    except Exception as error:
        raise damaged(source, error) from None


def _copy(source: Source, archive: zipfile.ZipFile, wanted: Callable[[str], bool]) -> io.BytesIO:
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries if wanted(entry.filename))
    if size > MARKUP:
        raise DocumentError(
            f"{source.id}: unpacks to {size / (1 << 20):,.0f} MiB of markup, more than "
            f"{MARKUP >> 20}; split it first"
        )
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as out:
        for entry in entries:
            part = b""
            if wanted(entry.filename):
                if entry.compress_type not in _METHODS:
                    raise zipfile.BadZipFile
                part = archive.read(entry)
            if part and entry.filename.lower().endswith(_XML):
                _refuse_entities(source, part)
            out.writestr(zipfile.ZipInfo(entry.filename), part)
    copy.seek(0)
    return copy


class _Begun(Exception):
    """The first element was reached: nothing can be declared after it."""


def _refuse_entities(source: Source, part: bytes) -> None:
    def refuse(*declared: object) -> None:
        raise DocumentError(
            f"{source.id}: declares XML entities, which can hide a bomb; open it in the program "
            "that made it and save it anew"
        )

    def begun(*element: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = begun
    with suppress(_Begun):
        parser.Parse(part, True)
