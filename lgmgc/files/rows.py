"""Trees to rows: one a chunk, in document order, a parent before its children."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import DocumentError

SCHEMA = 2
"""To be raised whenever a column comes, goes or changes its meaning; manifests have it.

1 had no ``pages``, ``headings`` and ``metadata``.
"""

COLUMNS: Mapping[str, str] = {
    "id": "16 hexadecimal digits, the same in every run",
    "document": "the document's id",
    "parent": "the id of the level 0 chunk it is a piece of; null for a level 0 chunk itself",
    "level": "0: at most θ; 1: at most θ/2; 2: at most θ/4",
    "start": "first code point in the document's text",
    "end": "one past the last code point",
    "words": "size in words",
    "score": "the boundary score at its end, four decimals; null where no model gave one",
    "window": "[start, end] of the larger span to read where it is found; null: the chunk itself",
    "view": "what stands for it when it is searched for; null: its text",
    "pages": "[first, last] page it lies on, counted from 1; null where there are no pages",
    "headings": "the titles it stands under where it begins, outermost first",
    "metadata": "the document's own, an object; null where it has none",
    "text": "the document's text from start to end",
}
"""The columns in their order, each with its meaning."""

Row = dict[str, Any]

# JSON allows these raw, but programs that split text into lines (Python's splitlines, some
# editors) take them for line ends. Escaped, every row is one line for everybody.
_LINE_ENDS = {"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def rows(tree: Tree) -> Iterator[bytes]:
    """Write a tree's chunks as JSON lines in UTF-8, with the `COLUMNS` in their order.

    Raises:
        DocumentError: see `metadata_json`; before the first row.
    """
    metadata_json(tree.document)
    for parent in tree.parents:
        yield line(_row(parent, None))
        for child in parent.children:
            yield line(_row(child, parent.id))


def line(row: Mapping[str, Any]) -> bytes:
    r"""Write one JSON object as a line, its text readable where it can be.

    >>> line({"text": "é\n"})
    b'{"text": "\xc3\xa9\\n"}\n'
    """
    written = json.dumps(row, ensure_ascii=False, allow_nan=False)
    for end, escaped in _LINE_ENDS.items():
        written = written.replace(end, escaped)
    return written.encode("utf-8") + b"\n"


def metadata_json(document: Document) -> str:
    """Write a document's metadata as JSON.

    Raises:
        DocumentError: it holds what JSON in UTF-8 cannot say, such as NaN.

    >>> metadata_json(Document("a", "", {"year": 1901}))
    '{"year": 1901}'
    """
    try:
        written = json.dumps(document.metadata, ensure_ascii=False, allow_nan=False)
        written.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(
            f"{document.id}: has metadata that JSON cannot say ({type(error).__name__}), such as "
            "NaN or half of a UTF-16 pair; take it out"
        ) from None
    return written


def nested(document: str, given: Iterable[Row]) -> Row:
    """Put the rows of a document into one object, children inside their parents.

    Args:
        document: its id.
        given: its rows, in the order of `rows`.

    Returns:
        ``document``, ``metadata`` and ``parents``; these have all other columns but ``parent``, and
        ``children``, which have the same.

    >>> nested("a", [])
    {'document': 'a', 'metadata': None, 'parents': []}
    """
    whole: Row = {"document": document, "metadata": None, "parents": []}
    for row in given:
        whole["metadata"] = row["metadata"]
        inner = {name: row[name] for name in COLUMNS if name not in _OUTER}
        if row["parent"] is None:
            whole["parents"].append({**inner, "children": []})
        else:
            whole["parents"][-1]["children"].append(inner)
    return whole


_OUTER = ("document", "metadata", "parent")


def _row(chunk: Chunk, parent: str | None) -> Row:
    scored = chunk.score is not None and math.isfinite(chunk.score)
    return {
        "id": chunk.id,
        "document": chunk.document.id,
        "parent": parent,
        "level": chunk.level,
        "start": chunk.start,
        "end": chunk.end,
        "words": chunk.words,
        # JSON cannot say infinity and NaN. Adding 0.0 turns -0.0 into 0.0.
        "score": round(float(chunk.score), 4) + 0.0 if scored and chunk.score is not None else None,
        "window": chunk.window,
        "view": chunk.view,
        "pages": chunk.pages,
        "headings": chunk.headings,
        "metadata": chunk.document.metadata or None,
        "text": chunk.text,
    }
