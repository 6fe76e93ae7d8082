"""EPUB, as markitdown turns it into Markdown."""

from __future__ import annotations

import mimetypes

from lgmgc.document import Document
from lgmgc.files.formats.archive import safe
from lgmgc.files.formats.converted import converted
from lgmgc.files.raw import content
from lgmgc.files.reading import Reading
from lgmgc.files.source import Source

_MEDIA = ("image/", "audio/", "video/", "font/")


def read(source: Source, reading: Reading) -> Document:
    """Read the chapters of a book in the order of reading, after what it says about itself.

    Raises:
        DocumentError: see `lgmgc.files.formats.archive.safe` and `converted`.
    """
    return converted(source, "EpubConverter", safe(source, content(source), _is_text))


def _is_text(name: str) -> bool:
    return not (mimetypes.guess_type(name)[0] or "").startswith(_MEDIA)
