"""How documents are read, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lgmgc.document import Document


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents are read.

    Attributes:
        encoding: of plain text, Markdown, HTML and CSV: a text encoding that Python knows. The
            other formats say theirs themselves.
        errors: "strict", or "replace" to put U+FFFD in the place of what cannot be decoded.
        text_column: of tables, and the field of JSON lines, that holds the text.
        normalize: change what was extracted; see `lgmgc.files.normalize`.
    """

    encoding: str = "utf-8"
    errors: Literal["strict", "replace"] = "strict"
    text_column: str = "text"
    normalize: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A document that could be read.

    Attributes:
        document: with its text.
        size: its share of the source's bytes, for progress.
        place: where it was read, for messages: the source, with the line or row if it has many.
    """

    document: Document
    size: int
    place: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A document, or a whole source, that could not be read.

    Attributes:
        id: of the document, or of the source.
        message: one sentence that names it and the remedy.
        size: its share of the source's bytes, for progress.
        unnamed: it stands for documents whose ids are not known, such as the rest of a torn table.
    """

    id: str
    message: str
    size: int
    unnamed: bool = False
