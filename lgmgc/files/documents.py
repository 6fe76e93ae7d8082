"""One source to the documents in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.reader import Source, read


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents are read.

    Attributes:
        encoding: a text encoding that Python knows.
        errors: "strict", or "replace" to put U+FFFD in the place of what cannot be decoded.
    """

    encoding: str = "utf-8"
    errors: str = "strict"


@dataclass(frozen=True, slots=True)
class Opened:
    """A document that could be read.

    Attributes:
        document: with its text.
        size: its share of the source's bytes, for progress.
    """

    document: Document
    size: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A document, or a whole source, that could not be read.

    Attributes:
        id: of the document, or of the source.
        message: one sentence that names it and the remedy.
        size: its share of the source's bytes, for progress.
    """

    id: str
    message: str
    size: int


def documents(source: Source, reading: Reading) -> Iterator[Opened | Failure]:
    """Read the documents of a source, one after another; what fails does not end the rest.

    Args:
        source: from `lgmgc.files.reader.find`.
        reading: how.
    """
    try:
        yield Opened(read(source, reading.encoding, reading.errors), source.size)
    except DocumentError as error:
        yield Failure(source.id, str(error), source.size)
