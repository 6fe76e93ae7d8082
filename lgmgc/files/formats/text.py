"""Plain text and Markdown: the text is what the bytes say."""

from __future__ import annotations

from lgmgc.document import Document
from lgmgc.files import reader
from lgmgc.files.headings import headings
from lgmgc.files.reading import Reading
from lgmgc.files.source import Source


def read(source: Source, reading: Reading) -> Document:
    """Read plain text.

    Raises:
        DocumentError: see `lgmgc.files.reader.decoded`.
    """
    return reader.read(source, reading.encoding, reading.errors)


def read_markdown(source: Source, reading: Reading) -> Document:
    """Read Markdown as the text that it is, with its headings beside it.

    Raises:
        DocumentError: see `lgmgc.files.reader.decoded`.
    """
    text = reader.decoded(source, reading.encoding, reading.errors)
    return Document(source.id, text, headings=headings(text))
