"""PDF: the text of its pages, as PDFium gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.formats.refusals import damaged, missing
from lgmgc.files.raw import content
from lgmgc.files.reading import Reading
from lgmgc.files.source import Source

PAGES = 50_000
"""How many pages are read: a few hundred bytes can claim a million."""
CHARACTERS = 100_000_000
"""Of all pages together: pages may share what they show, and so be larger than the file."""
_LOCKED = 4  # FPDF_ERR_PASSWORD


def read(source: Source, reading: Reading) -> Document:
    r"""Read the pages of a PDF, with where each begins.

    A page's text is what PDFium gives: lines end with ``\r\n``, and U+0002 stands where a word was
    divided at the end of a line. One ``\n`` between pages lets a sentence run on to the next page.

    Raises:
        DocumentError: it is torn, locked or too large, or holds images and no text.
    """
    try:
        import pypdfium2
    except ImportError:
        raise missing(source, "pdf") from None
    data = content(source)
    # PDFium repairs a torn file and gives the pages that are left, as though they were all.
    if b"%%EOF" not in data.rstrip(b"\0 \t\r\n")[-1024:]:
        raise DocumentError(f"{source.id}: is torn, or no PDF: its end is missing; copy it again")
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _LOCKED:
            raise DocumentError(
                f"{source.id}: is locked with a password; take it off first, for example with "
                "qpdf --decrypt"
            ) from None
        raise damaged(source, error) from None
    try:
        return _document(source, pdf)
    finally:
        pdf.close()


def _document(source: Source, pdf: Any) -> Document:
    if len(pdf) > PAGES:
        raise DocumentError(
            f"{source.id}: has {len(pdf):,} pages, more than {PAGES:,}; split it first"
        )
    texts = []
    starts = []
    length = 0
    for text in _pages(source, pdf):
        starts.append(length)
        texts.append(text)
        length += len(text) + 1
        if length > CHARACTERS:
            raise DocumentError(
                f"{source.id}: holds more than {CHARACTERS:,} characters; split it first"
            )
    if not any(map(str.strip, texts)):
        if any(_shows(page) for page in pdf):
            raise DocumentError(
                f"{source.id}: holds no text, only images; run OCR first, for example ocrmypdf"
            )
        return Document(source.id, "")
    return Document(source.id, "\n".join(texts), pages=tuple(starts))


def _pages(source: Source, pdf: Any) -> Iterator[str]:
    for number in range(len(pdf)):
        try:
            page = pdf[number]
            content = page.get_textpage()
            text = content.get_text_bounded()
            content.close()
            page.close()
        except Exception as error:
            raise DocumentError(
                f"{source.id}: page {number + 1} is damaged ({type(error).__name__}); save the "
                "file anew in a program that shows it"
            ) from None
        yield text


def _shows(page: Any) -> bool:
    return next(page.get_objects(), None) is not None
