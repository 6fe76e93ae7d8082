"""Gold segmentations that users bring, one document a line."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Benchmark, Span
from lgmgc.evaluation.datasets.rows import Row, file_or_only, read_rows
from lgmgc.evaluation.datasets.spans import tiling
from lgmgc.evaluation.datasets.titles import counted
from lgmgc.text.sentences import split


def boundaries(data: Path, language: str = "en") -> Benchmark:
    """Rows with ``id``, ``text`` and ``boundaries``: where a segment ends, in code points.

    ``units`` says where a boundary may lie: the end of each sentence, paragraph or turn. Without
    it, these are the ends of sentences, and the gold boundaries wherever they are.

    Args:
        data: a .jsonl file, or a folder with one such file.
        language: what the documents are in.

    Raises:
        UsageError: there is no such file.
        DocumentError: a row is malformed, or there is none.
    """
    path = file_or_only(data)
    documents: dict[str, Document] = {}
    segments: dict[str, tuple[Span, ...]] = {}
    units: dict[str, tuple[int, ...]] = {}
    for row in read_rows(path):
        document = Document(row.text("id"), row.text("text"))
        if document.id in documents:
            raise row.fault("needs another 'id' than the rows above it")
        documents[document.id] = document
        segments[document.id] = tiling(
            _offsets(row, "boundaries", document.text), len(document.text)
        )
        units[document.id] = _units(row, document.text, segments[document.id])
    if not documents:
        raise DocumentError(f"{path}: holds no row; write one document a line")
    return Benchmark(
        "boundaries",
        f"{path.name}: {counted(len(documents), 'document')}",
        tuple(documents.values()),
        boundaries=segments,
        units=units,
        language=language,
    )


def _units(row: Row, text: str, segments: tuple[Span, ...]) -> tuple[int, ...]:
    gold = {end for _, end in segments}
    if not row.has("units"):
        return tuple(sorted(gold.union(split(text)) - {0}))
    units = {*_offsets(row, "units", text), len(text)} - {0}
    if not gold <= units:
        raise row.fault("needs each of its 'boundaries' among its 'units'")
    return tuple(sorted(units))


def _offsets(row: Row, name: str, text: str) -> tuple[int, ...]:
    offsets = row.wholes(name)
    if any(a >= b for a, b in pairwise(offsets)) or offsets[-1:] > (len(text),):
        raise row.fault(f"needs rising offsets up to its text's length in the field {name!r}")
    return offsets
