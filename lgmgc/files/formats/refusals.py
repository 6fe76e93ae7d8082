"""What is said of a file that cannot be read, without quoting it."""

from __future__ import annotations

from lgmgc.errors import DocumentError
from lgmgc.files.source import Source


def missing(source: Source, extra: str) -> DocumentError:
    """Tell which libraries have to be installed first."""
    return DocumentError(
        f"{source.id}: reading {source.suffix} takes libraries that are not installed; "
        f"pip install 'lgmgc[{extra}]'"
    )


def damaged(source: Source, error: Exception) -> DocumentError:
    """Tell that a library gave up on a file; its words may hold the text, so only their kind."""
    return DocumentError(
        f"{source.id}: is damaged, or no {source.suffix} file ({type(error).__name__}); copy it "
        "again, or open it in the program that made it and save it anew"
    )
