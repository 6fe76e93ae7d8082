"""JSON lines back to trees: the chunks that `lgmgc chunk` wrote, read again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import UsageError
from lgmgc.files.places import headings_of, pages_of


def read_trees(path: Path) -> Iterator[Tree]:
    """Rebuild the trees of which `lgmgc.files.rows.rows` wrote the rows.

    A document's text is put together from its level 0 rows, so these have to reach from its
    beginning to its end without a gap; they may overlap. A document without a row (an empty one)
    is not there. Scores are as the rows have them, with four decimals. Every chunk has the pages
    and headings of its row, but the document's own may begin a little elsewhere: see
    `lgmgc.files.places`. Rows of before there were windows, views, pages, headings and metadata are
    read too.

    Args:
        path: JSON lines, the rows of a document next to each other, a parent before its children.

    Yields:
        One document after another, so that only one is in memory (law 5).

    Raises:
        UsageError: the file cannot be read, or a line is not such a row; the line is named, never
            quoted (law 6).
    """
    seen: set[str] = set()
    try:
        with path.open("rb") as file:
            lines = (_row(path, k, line) for k, line in enumerate(file, 1) if line.strip())
            for name, group in groupby(lines, key=lambda row: row.document):
                rows = list(group)
                if name in seen:
                    raise _fault(path, rows[0].line, "goes on with a document that ended before")
                seen.add(name)
                yield _tree(path, rows)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror or error}); give a file that `lgmgc chunk "
            "--out` wrote"
        ) from None


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    id: str
    document: str
    parent: str | None
    level: int
    start: int
    end: int
    words: int
    score: float | None
    window: tuple[int, int] | None
    view: str | None
    pages: tuple[int, int] | None
    headings: tuple[str, ...]
    metadata: dict[str, object] | None
    text: str


def _row(path: Path, number: int, line: bytes) -> _Row:
    try:
        read = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _fault(path, number, "is not a JSON object in UTF-8") from None
    if not isinstance(read, dict):
        raise _fault(path, number, "is not a JSON object in UTF-8")
    row = {**_ABSENT, **read, "line": number}
    for name, fit in _FIELDS.items():
        if name not in row:
            raise _fault(path, number, f"has no field {name!r}")
        if not fit(row[name]):
            raise _fault(path, number, f"has a field {name!r} that cannot be")
    if (row["level"] == 0) != (row["parent"] is None):
        raise _fault(path, number, "needs a parent above level 0, and none at level 0")
    if row["end"] - row["start"] != len(row["text"]):
        raise _fault(path, number, "has a text that is not as long as its span")
    for name in ("window", "pages", "headings"):
        row[name] = None if row[name] is None else tuple(row[name])
    return _Row(**{name: row[name] for name in (*_FIELDS, "line")})


def _tree(path: Path, rows: Sequence[_Row]) -> Tree:
    document = Document(
        rows[0].document,
        _text(path, rows),
        rows[0].metadata or {},
        pages_of([(row.start, row.end, row.pages) for row in rows if row.pages is not None]),
        headings_of((row.start, row.headings) for row in rows),
    )
    parents: dict[str, _Row] = {}
    children: dict[str, list[Chunk]] = {}
    for row in rows:
        if row.text != document.text[row.start : row.end]:
            raise _fault(path, row.line, "has another text than the level 0 rows have there")
        chunk = _chunk(document, row)
        if (chunk.pages, chunk.headings) != (row.pages, row.headings):
            raise _fault(path, row.line, "has pages or headings that contradict other rows")
        if row.parent is None:
            if row.id in parents:
                raise _fault(path, row.line, "has the id of another parent of its document")
            parents[row.id], children[row.id] = row, []
        elif row.parent not in parents:
            raise _fault(path, row.line, "is a child whose parent is not above it")
        else:
            children[row.parent].append(chunk)
    return Tree(document, tuple(_chunk(document, p, children[key]) for key, p in parents.items()))


def _text(path: Path, rows: Sequence[_Row]) -> str:
    parts: list[str] = []
    length = 0
    for row in rows:
        if row.level == 0:
            if row.start > length:
                raise _fault(
                    path,
                    row.line,
                    f"begins at {row.start}, but the level 0 rows above it end at {length}",
                )
            parts.append(row.text[length - row.start :])
            length = max(length, row.end)
    return "".join(parts)


def _chunk(document: Document, row: _Row, children: Sequence[Chunk] = ()) -> Chunk:
    return Chunk(
        document,
        row.id,
        row.level,
        row.start,
        row.end,
        row.words,
        row.score,
        tuple(children),
        row.window,
        row.view,
    )


def _fault(path: Path, line: int, what: str) -> UsageError:
    return UsageError(f"{path}: line {line} {what}; write the file again with `lgmgc chunk --out`")


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can spell half of a UTF-16 pair, which is no text
        return False
    return True


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0  # a bool is an int to isinstance


def _is_pages(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))):
        return False
    return bool(1 <= value[0] <= value[1] <= _PAGES)


_PAGES = 10**6
_ABSENT: dict[str, Any] = {
    **dict.fromkeys(("score", "window", "view", "pages", "metadata")),
    "headings": [],
}
_FIELDS = {
    "id": _is_text,
    "document": _is_text,
    "parent": lambda value: value is None or _is_text(value),
    "level": _is_count,
    "start": _is_count,
    "end": _is_count,
    "words": _is_count,
    "score": lambda value: value is None or type(value) in (int, float),
    "window": lambda value: (
        value is None
        or (isinstance(value, list) and len(value) == 2 and all(map(_is_count, value)))
    ),
    "view": lambda value: value is None or _is_text(value),
    "pages": lambda value: value is None or _is_pages(value),
    "headings": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "metadata": lambda value: value is None or isinstance(value, dict),
    "text": _is_text,
}
