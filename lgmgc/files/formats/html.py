"""HTML, as markitdown turns it into Markdown."""

from __future__ import annotations

import io

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files import reader
from lgmgc.files.formats.archive import MARKUP
from lgmgc.files.formats.converted import converted
from lgmgc.files.reading import Reading
from lgmgc.files.source import Source


def read(source: Source, reading: Reading) -> Document:
    """Read a page of HTML; its scripts are left out, and nothing that it links to is fetched.

    Raises:
        DocumentError: see `lgmgc.files.reader.decoded`; or it is too large.
    """
    data = reader.read(source, reading.encoding, reading.errors).text.encode("utf-8")
    if len(data) > MARKUP:
        raise DocumentError(
            f"{source.id}: holds more than {MARKUP >> 20} MiB of markup; split it first"
        )
    return converted(source, "HtmlConverter", io.BytesIO(data))
