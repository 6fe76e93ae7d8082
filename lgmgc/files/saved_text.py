"""The text that was extracted, in a file of its own, so that offsets can be looked up."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.files.whole_file import WholeFile

_LENGTH = 40  # characters of the id, at most 4 bytes each, of the 255 bytes that a name may have


def save_text(document: Document, folder: Path) -> Path:
    """Write a document's text as UTF-8 without altering it, whole or not at all.

    The file's name is the end of the id, as far as every system allows it in a name, and 16 digits
    of the id's sha256: one id has one name, and two ids have two.

    Args:
        document: whose text is written.
        folder: made if it is not there.

    Returns:
        The file.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: is no folder to save texts in ({error.strerror or error}); choose another"
        ) from None
    path = folder / _name(document.id)
    with WholeFile(path) as file:
        file.write(document.text.encode("utf-8"))
        file.commit()
    return path


def _name(id: str) -> str:
    r"""Give the name of a document's file.

    >>> _name("../../etc/passwd")
    'etc_passwd-3754d6cb3a38e118.txt'
    """
    readable = re.sub(r"[^\w.-]+", "_", id)[-_LENGTH:].strip("._-")
    digest = hashlib.sha256(id.encode("utf-8")).hexdigest()[:16]
    return f"{readable}-{digest}.txt" if readable else f"{digest}.txt"
