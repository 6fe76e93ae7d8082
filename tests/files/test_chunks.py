"""Rows back to trees: whatever a method makes, and files that are not such rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document, Heading, Tree
from lgmgc.errors import UsageError
from lgmgc.files.chunks import read_trees
from lgmgc.files.rows import rows
from tests.fake import SCORES, TEXTS, FakeScorer, FakeWriter

METHODS = {
    "lgmgc": Settings(theta=24),
    "mg in characters": Settings("mg", 60, "characters"),
    "fixed with overlap": Settings("fixed", 24, options=Options(overlap=7)),
    "small2big": Settings("small2big", 24),
    "proposition": Settings("proposition", 24),
}


def written(path: Path, trees: Iterable[Tree]) -> Path:
    path.write_bytes(b"".join(row for tree in trees for row in rows(tree)))
    return path


def as_written(tree: Tree) -> Tree:
    """The tree with scores as a row says them."""

    def rounded(chunk: Chunk) -> Chunk:
        score = chunk.score
        keeps = score is not None and math.isfinite(score)
        return replace(chunk, score=round(float(score), 4) if keeps and score is not None else None)

    return Tree(tree.document, tuple(rounded(parent) for parent in tree.parents))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scores", ["random", "half nan"])
def test_what_was_written_is_read(tmp_path: Path, method: str, scores: str) -> None:
    chunker = Chunker(METHODS[method], FakeScorer(SCORES[scores]), writer=FakeWriter())
    documents = [Document(name, text[:3_000]) for name, text in TEXTS.items() if text]
    trees = list(chunker.chunk_many(documents))
    read = list(read_trees(written(tmp_path / "c.jsonl", trees)))
    assert read == [as_written(tree) for tree in trees]
    assert [tree.document.text for tree in read] == [document.text for document in documents]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=4))
def test_any_text(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    trees = [Chunker(Settings("mg", 4)).chunk(Document(str(k), t)) for k, t in enumerate(texts)]
    path = tmp_path_factory.mktemp("any") / "c.jsonl"
    assert list(read_trees(written(path, trees))) == trees


def test_one_document_after_another(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    written(path, [Chunker(Settings("mg", 4)).chunk(Document("a", "One thing. And another."))])
    path.write_bytes(path.read_bytes() + b"\n" + row("b", 0, "Two.") + b"no row\n")
    trees = read_trees(path)
    assert next(trees).document == Document("a", "One thing. And another.")
    with pytest.raises(UsageError, match=r"line \d+ is not a JSON object"):
        next(trees)


def test_pages_headings_and_metadata(tmp_path: Path) -> None:
    text = "One thing. Another thing. A third thing. A fourth one. "
    titles = (Heading(11, 1, "Other"), Heading(26, 2, "Third"))
    document = Document("a", text, {"year": 1901}, (0, 13, 13, 30), titles)
    tree = Chunker(Settings("mg", 6)).chunk(document)
    path = written(tmp_path / "c.jsonl", [tree])
    [read] = read_trees(path)
    assert read == tree
    assert read.document.metadata == {"year": 1901}
    places = [(chunk.pages, chunk.headings) for chunk in tree]
    assert [(chunk.pages, chunk.headings) for chunk in read] == places
    assert len(set(places)) > 3
    assert list(rows(read)) == list(rows(tree))


def test_rows_of_before_windows_and_views(tmp_path: Path) -> None:
    short = {"id": "p", "document": "a", "parent": None, "level": 0, "start": 0, "end": 4}
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({**short, "words": 1, "text": "One."}))
    [tree] = read_trees(path)
    document = Document("a", "One.")
    assert tree == Tree(document, (Chunk(document, "p", 0, 0, 4, 1),))


def row(document: str, start: int, text: str, **other: Any) -> bytes:
    fields = {"id": f"{document}{start}", "document": document, "parent": None, "level": 0}
    fields |= {"start": start, "end": start + len(text), "words": 1, "score": None}
    return (
        json.dumps(fields | {"window": None, "view": None, "text": text} | other).encode() + b"\n"
    )


FIRST = row("a", 0, "One. ")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([b"[]"], "line 1 is not a JSON object"),
        ([b"\xff"], "line 1 is not a JSON object"),
        ([b"[" * 100_000], "line 1 is not a JSON object"),
        ([FIRST, b"{}"], "line 2 has no field 'id'"),
        (
            [FIRST, b"\n", row("a", 5, "Two.", level=None)],
            "line 3 has a field 'level' that cannot be",
        ),
        ([row("a", 0, "One.", level=True)], "line 1 has a field 'level' that cannot be"),
        ([row("a", 0, "One.", pages=[2, 1])], "line 1 has a field 'pages' that cannot be"),
        ([row("a", 0, "One.", pages=[1, 10**9])], "line 1 has a field 'pages' that cannot be"),
        ([row("a", 0, "One.", headings=None)], "line 1 has a field 'headings' that cannot be"),
        ([row("a", 0, "One.", metadata=[])], "line 1 has a field 'metadata' that cannot be"),
        (
            [row("a", 0, "One. ", pages=[2, 2]), row("a", 5, "Two.", pages=[1, 1])],
            "line 1 has pages or headings that contradict other rows",
        ),
        (
            [row("a", 0, "One. ", headings=["A"]), row("a", 5, "Two.")],
            "line 2 has pages or headings that contradict other rows",
        ),
        ([row("a", -1, "One.")], "line 1 has a field 'start' that cannot be"),
        ([row("a", 0, "One.", window=[1])], "line 1 has a field 'window' that cannot be"),
        ([row("a", 0, "One.", score="1")], "line 1 has a field 'score' that cannot be"),
        ([row("\ud800", 0, "One.", id="x")], "line 1 has a field 'document' that cannot be"),
        ([row("a", 0, "\udc80")], "line 1 has a field 'text' that cannot be"),
        ([row("a", 0, "One.", end=9)], "line 1 has a text that is not as long as its span"),
        ([row("a", 0, "One.", level=1)], "line 1 needs a parent above level 0"),
        ([row("a", 0, "One.", parent="p")], "line 1 needs a parent above level 0"),
        ([row("a", 3, "One.")], "line 1 begins at 3, but the level 0 rows above it end at 0"),
        (
            [FIRST, row("a", 6, "Two.")],
            "line 2 begins at 6, but the level 0 rows above it end at 5",
        ),
        ([FIRST, row("a", 3, "XTwo.")], "line 2 has another text than the level 0 rows"),
        ([FIRST, row("a", 0, "Two. ", level=1, parent="a0")], "line 2 has another text"),
        (
            [FIRST, row("a", 0, "One.", level=1, parent="x")],
            "line 2 is a child whose parent is not",
        ),
        ([FIRST, FIRST], "line 2 has the id of another parent"),
        ([FIRST, row("b", 0, "Two."), row("a", 5, "Three.")], "line 3 goes on with a document"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, lines: list[bytes], message: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join(line.rstrip(b"\n") for line in lines))
    with pytest.raises(UsageError) as caught:
        list(read_trees(path))
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "One" not in str(caught.value)  # law 6


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_trees(tmp_path / "none.jsonl"))
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_trees(tmp_path))
