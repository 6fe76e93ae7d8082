"""Embedders whose rows can be worked out by hand, trees, and all that an index holds."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from lgmgc.document import Chunk, Document, Tree
from lgmgc.retrieval.embedding import Rows
from lgmgc.text.sizes import count_words

WORDS = ["sea", "boat", "sail", "wind", "rope", "tide"]


class Bag:
    """A number for each of a few hashed words: how often it occurs. Equal bags are equal rows."""

    name = "bag"

    def __init__(self, dimensions: int = 8, identity: str = "bag-1") -> None:
        self.dimensions = dimensions
        self.identity = identity
        self.calls: list[list[str]] = []

    def passages(self, texts: Sequence[str]) -> Rows:
        self.calls.append(list(texts))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        norms = np.maximum(np.sqrt((rows * rows).sum(axis=1, keepdims=True)), 1e-9)
        unit: Rows = (rows / norms).astype(np.float32)
        return unit

    def queries(self, texts: Sequence[str]) -> Rows:
        return self.passages(texts)

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]


class Plane:
    """Rows in two dimensions that a test writes down, by text."""

    name = "plane"
    identity = "plane-1"
    dimensions = 2

    def __init__(self, rows: Mapping[str, tuple[float, float]]) -> None:
        self.rows = rows

    def passages(self, texts: Sequence[str]) -> Rows:
        return np.array([self.rows[text] for text in texts], np.float32).reshape(-1, 2)

    queries = passages


Span = tuple[int, int]
Shape = tuple[Span, Sequence[tuple[int, int, int]]]


def make_tree(name: str, text: str, shapes: Iterable[Shape]) -> Tree:
    """A tree of parents ``((start, end), [(level, start, end), …])``."""
    document = Document(name, text)

    def chunk(level: int, start: int, end: int, children: tuple[Chunk, ...] = ()) -> Chunk:
        key = f"{name}:{level}:{start}:{end}"
        return Chunk(document, key, level, start, end, count_words(text[start:end]), None, children)

    return Tree(
        document,
        tuple(
            chunk(0, start, end, tuple(chunk(*child) for child in children))
            for (start, end), children in shapes
        ),
    )


def paragraphs(name: str, *texts: str) -> Tree:
    """A parent for each text, two children where it has two words or more."""
    shapes: list[Shape] = []
    start = 0
    for text in texts:
        end = start + len(text) + 1
        middle = start + len(text) // 2
        halves = [(1, start, middle), (1, middle, end)] if " " in text else []
        shapes.append(((start, end), halves))
        start = end
    return make_tree(name, "".join(f"{text}\n" for text in texts), shapes)


@st.composite
def trees(draw: st.DrawFn, name: str) -> Tree:
    """Few words, so that many pieces are equal; parents overlap, and leave gaps."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
    bounds = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    text = "".join(f"{word} " for word in words)

    def spans(first: int, last: int) -> st.SearchStrategy[Span]:
        return st.integers(first, last - 1).flatmap(
            lambda a: st.tuples(st.just(a), st.integers(a + 1, last))
        )

    shapes = []
    for first, last in draw(st.lists(spans(0, len(words)), max_size=4, unique=True)):
        children = draw(st.lists(st.tuples(st.integers(1, 2), spans(first, last)), max_size=4))
        shapes.append(
            ((bounds[first], bounds[last]), [(v, bounds[a], bounds[b]) for v, (a, b) in children])
        )
    return make_tree(name, text, shapes)


@st.composite
def corpora(draw: st.DrawFn, most: int = 5) -> list[Tree]:
    names = draw(st.lists(st.sampled_from("abcdefg"), max_size=most, unique=True))
    return [draw(trees(name)) for name in names]


def dump(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table, and every occurrence of every term."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
        connection.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab(main, terms, instance)")
        tables = ["meta", "documents", "chunks", "vectors", "terms_docsize", "seen"]
        return {
            table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr)
            for table in tables
        }
    finally:
        connection.close()
