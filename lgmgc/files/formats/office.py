"""Word, PowerPoint and Excel, as markitdown turns them into Markdown."""

from __future__ import annotations

import io
import warnings
from typing import Any

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.formats.archive import MARKUP, safe
from lgmgc.files.formats.converted import converted
from lgmgc.files.formats.refusals import damaged, missing
from lgmgc.files.raw import content
from lgmgc.files.reading import Reading
from lgmgc.files.source import Source

CELLS = 500_000
"""Cells of a workbook, empty ones between others counted: two cells can span seventeen billion."""


def read_docx(source: Source, reading: Reading) -> Document:
    """Read a text of Word, its headings as Markdown's.

    Raises:
        DocumentError: see `lgmgc.files.formats.archive.safe` and `converted`.
    """
    return converted(source, "DocxConverter", _parts(source))


def read_pptx(source: Source, reading: Reading) -> Document:
    """Read the slides of PowerPoint; each title is a heading.

    Raises:
        DocumentError: see `lgmgc.files.formats.archive.safe` and `converted`.
    """
    return converted(source, "PptxConverter", _parts(source))


def read_xlsx(source: Source, reading: Reading) -> Document:
    """Read the sheets of Excel, each a heading and a table.

    Raises:
        DocumentError: see `lgmgc.files.formats.archive.safe` and `converted`; or it has too many
            cells.
    """
    parts = _parts(source)
    _refuse_huge(source, parts)
    return converted(source, "XlsxConverter", parts)


def _parts(source: Source) -> io.BytesIO:
    return safe(source, content(source), lambda name: name.lower().endswith((".xml", ".rels")))


def _refuse_huge(source: Source, parts: io.BytesIO) -> None:
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise missing(source, "office") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            small = _is_small(openpyxl.load_workbook(parts, read_only=True))
    except Exception as error:
        raise damaged(source, error) from None
    if not small:
        raise DocumentError(
            f"{source.id}: spans more than {CELLS:,} cells, or more text than "
            f"{MARKUP >> 20} MiB; split it, or save it as CSV"
        )
    parts.seek(0)


def _is_small(book: Any) -> bool:
    """Go through rows as they come, and stop where the table that they need is too large."""
    cells = characters = 0
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # those that the file claims
        rows = width = 0
        for row in sheet.iter_rows(values_only=True):
            rows, width = rows + 1, max(width, len(row))
            characters += sum(len(cell) for cell in row if isinstance(cell, str))
            if cells + rows * width > CELLS or characters > MARKUP:
                return False
        cells += rows * width
    return True
