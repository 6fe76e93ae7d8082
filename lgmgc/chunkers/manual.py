"""Boundaries that someone set: RAG-Manual, the reference of chunking by hand.

Source: Duarte et al., "LumberChunker" (arXiv 2406.17526, EMNLP 2024), where a narrative is cut by
hand into chunks for comparison.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeGuard

from lgmgc.chunkers.lines import line_ends
from lgmgc.chunkers.method import Cutting, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.recursive import division, tiling
from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.text.table import Sentences


class Boundaries(NamedTuple):
    """What a file says of one document.

    Attributes:
        offsets: starts and ends of its spans, rising, each once.
        line: the line of the file, from 1, that the last of them stands in.
    """

    offsets: tuple[int, ...]
    line: int


def manual(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Cut where a file of spans or a line in the text says so.

    Spans are cut at both ends, so that a gap between two of them is a parent too (law 1). What is
    longer than θ is divided by the recursive rule (law 2).

    Args:
        sentences: the document's; their first limit is θ.
        options: ``boundaries`` or ``marker``.
        document: whose id the file's rows name.

    Raises:
        UsageError: see `check`.
        DocumentError: the file has no rows for this document, or goes beyond its end.
    """
    text = sentences.text
    inner: Sequence[int] = ()
    if options.marker is not None:
        inner = marked(text, options.marker)
    elif options.boundaries is not None and text:
        inner = _in_file(options.boundaries, document)
    divided = division(sentences)
    bounds = sorted({0, *inner, len(text)})
    return Segmentation(tiling(end for span in pairwise(bounds) for end in divided(*span)))
    yield  # a generator like the others


def check(options: Options) -> None:
    """Refuse options before any document is read.

    Raises:
        UsageError: neither or both are given, the marker is no line, or the file cannot be read.
    """
    if (options.boundaries is None) == (options.marker is None):
        raise UsageError("manual reads either boundaries (a file) or marker (a line); give one")
    if options.marker is not None:
        marked("", options.marker)
    if options.boundaries is not None:
        read_boundaries(options.boundaries)


def marked(text: str, marker: str) -> list[int]:
    r"""One past each line that is the marker, and past the blank lines behind it.

    White space around either does not count.

    >>> marked("One.\n ***\n\nTwo.\n", "***")
    [11]

    Raises:
        UsageError: the marker is blank, or more than one line.
    """
    if len(marker.strip().splitlines()) != 1:
        raise UsageError(f"marker {marker!r} is not one line with something on it")
    ends: list[int] = []
    open_ = False  # nothing but blank lines since the last marker
    for a, b in pairwise([0, *line_ends(text).tolist()]):
        line = text[a:b].strip()
        if line == marker.strip():
            ends.append(b)
            open_ = True
        elif open_ and not line:
            ends[-1] = b
        else:
            open_ = False
    return ends


def read_boundaries(path: Path) -> Mapping[str, Boundaries]:
    """Read a file of spans, one JSON object a line; read once as long as it does not change.

    Each has ``document``, ``start`` and ``end``, in code points, as the rows of ``lgmgc chunk``
    have. Those with a ``level`` above 0 are children and are left out; blank lines are too.

    Raises:
        UsageError: the file cannot be read, or a line is no such object.
    """
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8; save the boundaries as UTF-8") from None


@lru_cache(maxsize=1)
def _read(path: Path, changed: int, size: int) -> Mapping[str, Boundaries]:
    offsets: defaultdict[str, set[int]] = defaultdict(set)
    furthest: dict[str, tuple[int, int]] = {}
    for line, document, start, end in _rows(path):
        offsets[document] |= {start, end}
        if end > furthest.get(document, (-1, 0))[0]:
            furthest[document] = end, line
    return {name: Boundaries(tuple(sorted(offsets[name])), furthest[name][1]) for name in offsets}


def _rows(path: Path) -> Iterator[tuple[int, str, int, int]]:
    """The line, the document, the start and the end of each row."""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{path}: line {number}"
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise UsageError(f"{where} is not a JSON object") from None
            if not isinstance(row, dict):
                raise UsageError(f"{where} is not a JSON object")
            if row.get("level"):
                continue
            document, start, end = (row.get(name) for name in ("document", "start", "end"))
            if not isinstance(document, str) or not (_is_offset(start) and _is_offset(end)):
                raise UsageError(f"{where} needs a document's name, and a start and end from 0")
            if start > end:
                raise UsageError(f"{where} has its start, {start}, behind its end, {end}")
            yield number, document, start, end


def _is_offset(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 0  # a bool is an int to isinstance


def _in_file(path: Path, document: Document) -> tuple[int, ...]:
    found = read_boundaries(path).get(document.id)
    if found is None:
        raise DocumentError(f"{document.id}: has no rows in {path}; rows name documents as typed")
    if found.offsets[-1] > len(document.text):
        raise DocumentError(
            f"{document.id}: {path}, line {found.line} ends at character {found.offsets[-1]}, "
            f"but the text has {len(document.text)}"
        )
    return found.offsets
