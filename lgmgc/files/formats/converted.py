"""What markitdown makes Markdown of."""

from __future__ import annotations

import io
import warnings

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.formats.patience import TooLong, at_most
from lgmgc.files.formats.refusals import damaged, missing
from lgmgc.files.headings import headings
from lgmgc.files.source import Source

SECONDS = 300
"""A book takes a few; time that grows with the square of a file's size takes days."""


def converted(source: Source, converter: str, data: io.BytesIO) -> Document:
    """Turn a file into Markdown, with its headings beside it.

    One converter is taken by its name: `markitdown.MarkItDown` would load a model to guess what a
    file is, and opens addresses (law 6).

    Args:
        source: the file's.
        converter: its name in `markitdown.converters`.
        data: what it reads.

    Raises:
        DocumentError: the library is not installed, gives up, or takes more than `SECONDS`.
    """
    try:
        import markitdown
        from markitdown import converters
    except ImportError:
        raise missing(source, "office") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are for programmers, and would go to the user
            how = getattr(converters, converter)()
            with at_most(SECONDS):
                text = how.convert(data, markitdown.StreamInfo(charset="utf-8")).markdown
    except markitdown.MissingDependencyException:
        raise missing(source, "office") from None
    except TooLong:
        raise DocumentError(
            f"{source.id}: took more than {SECONDS} seconds to read; split it first, or save it as "
            "plain text"
        ) from None
    except Exception as error:
        raise damaged(source, error) from None
    return Document(source.id, text, headings=headings(text))
