"""One source to the documents in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.formats import csv, epub, html, jsonl, office, parquet, pdf, text
from lgmgc.files.normalize import normalized
from lgmgc.files.reading import Failure, Opened, Reading
from lgmgc.files.source import Source

__all__ = ["Failure", "Opened", "Reading", "documents"]

_WHOLE: dict[str, Callable[[Source, Reading], Document]] = {
    ".md": text.read_markdown,
    ".html": html.read,
    ".htm": html.read,
    ".pdf": pdf.read,
    ".docx": office.read_docx,
    ".pptx": office.read_pptx,
    ".xlsx": office.read_xlsx,
    ".epub": epub.read,
}
_ROWS: dict[str, Callable[[Source, Reading], Iterator[Opened | Failure]]] = {
    ".jsonl": jsonl.read,
    ".csv": csv.read,
    ".parquet": parquet.read,
}


def documents(
    source: Source, reading: Reading, seen: set[str] | None = None
) -> Iterator[Opened | Failure]:
    """Read the documents of a source, one after another; what fails does not end the rest.

    The suffix of its name says what a source is; it is plain text where the suffix says nothing.
    A document's id is the source's, or for a line or row its own id, else ``SOURCE#NUMBER``.

    Args:
        source: from `lgmgc.files.reader.find`.
        reading: how.
        seen: ids that were there before in this run, to which the source's are added; a document
            whose id was there before is a failure. Left out: none were there.
    """
    seen = set() if seen is None else seen
    left = source.size
    try:
        for found in _found(source, reading):
            left = max(0, left - found.size)
            yield _once(found, seen)
    except DocumentError as error:
        yield Failure(source.id, str(error), left, unnamed=source.suffix in _ROWS)


def _found(source: Source, reading: Reading) -> Iterator[Opened | Failure]:
    if source.suffix in _ROWS:
        found = _ROWS[source.suffix](source, reading)
    else:
        read = _WHOLE.get(source.suffix, text.read)
        found = iter((Opened(read(source, reading), source.size, source.id),))
    for each in found:
        if reading.normalize and isinstance(each, Opened):
            yield Opened(normalized(each.document), each.size, each.place)
        else:
            yield each


def _once(found: Opened | Failure, seen: set[str]) -> Opened | Failure:
    if isinstance(found, Failure):
        return found
    name = found.document.id
    if name in seen:
        message = f"{found.place}: has the id {name!r} of a document before it; give it its own"
        return Failure(name, message, found.size)
    seen.add(name)
    return found
