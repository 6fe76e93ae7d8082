"""Documents of a benchmark that are files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.files.documents import Failure, Reading, documents
from lgmgc.files.reader import find


def read_texts(path: Path) -> Iterator[Document]:
    """Read a file, or those of a folder, whose paths in it become their ids; tables are left out.

    Raises:
        DocumentError: one of them cannot be read.
        UsageError: there is none.
    """
    for source in find([str(path)]):
        if source.path is None or source.suffix in (".jsonl", ".csv", ".parquet"):
            continue
        for found in documents(source, Reading()):
            if isinstance(found, Failure):
                raise DocumentError(found.message)
            name = source.path.name if path.is_file() else source.path.relative_to(path).as_posix()
            yield replace(found.document, id=name)
