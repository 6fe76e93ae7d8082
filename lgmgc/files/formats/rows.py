"""One document a line or row: what these formats have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.reading import Failure, Opened
from lgmgc.files.source import Source

ROW = 1 << 26
"""Bytes of a line, or characters of a cell, 64 MiB: the rest of a torn file may look like one."""
ID = "id"
"""The column, or field, of ids."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line or row as it was read.

    Attributes:
        kind: "line" or "row".
        number: counted from 1.
        text: which has to be a text.
        id: a text or a whole number; None or "" where it has none.
        metadata: which has to be a mapping, or None.
    """

    kind: str
    number: int
    text: object
    id: object = None
    metadata: object = None


def document_of(source: Source, row: Row, size: int) -> Opened | Failure:
    """Turn a row into a document.

    Its id is as the user gave it, else ``SOURCE#NUMBER``.

    Args:
        source: where it is from.
        row: as it was read.
        size: its share of the source's bytes.
    """
    place = f"{source.id}: {row.kind} {row.number}"
    name = f"{source.id}#{row.number}"
    if row.id not in (None, ""):
        if not isinstance(row.id, str | int) or isinstance(row.id, bool) or not _encodes(row.id):
            message = f"{place} has an id that is neither a text nor a whole number; mend it"
            return Failure(name, message, size, unnamed=True)
        name = str(row.id)
    if not isinstance(row.text, str):
        return Failure(name, f"{place} has no text; fill it in, or leave the {row.kind} out", size)
    if len(row.text) > ROW:
        return Failure(name, f"{place} is longer than {ROW >> 20} MiB; split it first", size)
    if not isinstance(row.metadata, Mapping | None):
        return Failure(name, f"{place} has metadata that is no object; mend it", size)
    try:
        return Opened(Document(name, row.text, row.metadata or {}), size, place)
    except DocumentError:
        message = f"{place} holds half of a UTF-16 pair, which is no text; replace it"
        return Failure(name, message, size)


def no_text(source: Source, where: str, what: str, name: str) -> DocumentError:
    """Tell that a source has no text where it was looked for."""
    return DocumentError(
        f"{source.id}: {where} no {what} {name!r}; name the one that holds the text with "
        "--text-column"
    )


class Shares:
    """Divides the bytes of a source among its documents, as they were read."""

    def __init__(self, tell: Callable[[], int]) -> None:
        """Begin at the source's first byte.

        Args:
            tell: gives how many bytes were read so far.
        """
        self._tell = tell
        self._before = 0

    def next(self) -> int:
        """Bytes read since the last call; at least 1, since 0 means that they were not counted."""
        before, self._before = self._before, self._tell()
        return max(1, self._before - before)


def _encodes(name: str | int) -> bool:
    try:
        str(name).encode()
    except UnicodeEncodeError:  # JSON can spell half of a UTF-16 pair
        return False
    return True
