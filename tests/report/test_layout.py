from __future__ import annotations

import doctest

import pytest
from hypothesis import given

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document
from lgmgc.report import drawing, layout, page
from lgmgc.report.layout import pieces, shared_rows, shown_from
from tests.chunkers.cutting import anything
from tests.fake import TEXTS
from tests.report.pages import book, cut, segmented


@pytest.mark.parametrize("module", [drawing, layout, page])
def test_the_examples(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(anything)
def test_pieces_are_the_whole_text(text: str) -> None:
    tree, _ = cut(text, "mg", 8)
    starts = shown_from(tree)
    shown = [
        p.text + p.space
        for parent, start in zip(tree.parents, starts, strict=True)
        for p in pieces(parent, start)
    ]
    assert "".join(shown) == text


def test_the_larger_of_two_children_that_end_together_has_the_rule() -> None:
    document = Document("a", "One. Two. Three. Four.")
    children = ((1, 0, 10), (1, 10, 22), (2, 0, 5), (2, 5, 10), (2, 10, 17), (2, 17, 22))
    parent = Chunk(document, "", 0, 0, 22, 4, children=tuple(
        Chunk(document, "", level, start, end, 1) for level, start, end in children
    ))  # fmt: skip
    assert [(piece.text, piece.level) for piece in pieces(parent, 0)] == [
        ("One.", 2), ("Two.", 1), ("Three.", 2), ("Four.", 0),
    ]  # fmt: skip


def test_what_overlaps_is_shown_once() -> None:
    settings = Settings("fixed", 10, options=Options(overlap=4))
    tree = Chunker(settings).chunk("one two three four " * 10)
    assert not tree.tiles
    starts = shown_from(tree)
    assert starts == [0, *(parent.end for parent in tree.parents[:-1])]


@pytest.mark.parametrize("name", ["CRLF", "CJK", "YAML", "empty"])
def test_rows_hold_every_parent_once_and_the_same_text(name: str) -> None:
    text = TEXTS[name]
    both = [segmented(cut(text, method, 12)[0]) for method in ("lg", "recursive")]
    rows = shared_rows(both)
    for number, each in enumerate(both):
        assert [k for row in rows for k in row[number]] == list(range(len(each.starts)))
    for row in rows:
        assert len({each.starts[of[0]] for each, of in zip(both, row, strict=True)}) == 1


def test_a_curve_keeps_extremes_and_a_lane_every_parent() -> None:
    scores = {k: -float(k % 100) for k in range(100_000)}
    path = drawing.curve(scores, 100_000)
    assert path.count("L") < 2100
    assert {"6.0", "94.0"} <= {point.split()[1] for point in path[1:].split("L")}
    cuts = range(0, 100_000, 50)
    assert drawing.dots(scores, 100_000, cuts).count("M") == 2000
    tree, _ = cut(book(600), "lg", 30)
    bounds = [*shown_from(tree), len(tree.document.text)]
    assert drawing.lane(bounds, bounds[-1]).count("M") == (len(tree.parents) + 1) // 2
