"""Choi's data: excerpts of the Brown corpus put together, which a segmenter takes apart again.

Source: Choi, "Advances in domain independent linear text segmentation" (NAACL 2000).
"""

from __future__ import annotations

from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.benchmark import Benchmark, Span
from lgmgc.evaluation.datasets.spans import joined, tiling
from lgmgc.evaluation.datasets.texts import read_texts

SEPARATOR = "=========="
DOCUMENTS = 920
"""How many Choi's data has, in its parts 1 to 4."""


def choi(data: Path) -> Benchmark:
    """Every .ref file of a folder and below it; sentences, one a line in it, are the units.

    A document is its sentences with a space between two, so that nothing shows where an excerpt
    ends. Segments without a sentence, which a few files of part 4 have, are left out.

    Args:
        data: the folder: all of Choi's data, one of its parts, or a folder of a part.

    Raises:
        UsageError: there is no .ref file.
        DocumentError: a file cannot be read, or has no sentence or no separator.
    """
    files = sorted(data.rglob("*.ref"))
    if not files:
        raise UsageError(f"{data}: is not a folder with .ref files in it; give that of Choi's data")
    documents: list[Document] = []
    boundaries: dict[str, tuple[Span, ...]] = {}
    units: dict[str, tuple[int, ...]] = {}
    for path in files:
        name = path.relative_to(data).with_suffix("").as_posix()
        segments = _segments(path)
        text, ends = joined([sentence for segment in segments for sentence in segment], " ")
        last = 0
        documents.append(Document(name, text))
        units[name] = ends
        stops = [ends[(last := last + len(segment)) - 1] for segment in segments]
        boundaries[name] = tiling(stops, len(text))
    return Benchmark(
        "choi", _title(data, files), tuple(documents), boundaries=boundaries, units=units
    )


def _segments(path: Path) -> list[list[str]]:
    lines = [line.strip() for line in next(read_texts(path)).text.splitlines()]
    if SEPARATOR not in lines:
        raise DocumentError(f"{path}: needs lines of {SEPARATOR} between segments")
    segments: list[list[str]] = [[]]
    for line in lines:
        if line == SEPARATOR:
            segments.append([])
        elif line:
            segments[-1].append(line)
    if not any(segments):
        raise DocumentError(f"{path}: needs sentences between the lines of {SEPARATOR}")
    return [segment for segment in segments if segment]


def _title(data: Path, files: list[Path]) -> str:
    """The parts are known by their folders, "1" to "4", in which are "3-5", "6-8" and so on."""
    folder = data.resolve()
    around = folder.parent.name if "-" in folder.name else folder.name
    below = {file.relative_to(data).parts[0] for file in files}
    parts = sorted({around, *below} & set("1234"))
    of = f"part{'s' * (len(parts) > 1)} {' and '.join(parts)} of Choi" if parts else "Choi"
    return f"{of}: {len(files)} of {DOCUMENTS} documents"
