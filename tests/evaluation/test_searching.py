from pathlib import Path

import pytest

from lgmgc.document import Document, Tree
from lgmgc.evaluation.benchmark import Benchmark, Question, Scope
from lgmgc.evaluation.searching import Found, read_span, search_all, won
from tests.evaluation.made import ChosenEmbedder, HashEmbedder, chunk, remembered_embedder, tree

A = Document("a", "red green blue")
B = Document("b", "red")
# a: "red " has no child; "green blue" has two of level 1, of which the first has two of level 2.
TREES = (
    Tree(
        A,
        (
            chunk(A, 0, 4),
            chunk(
                A, 4, 14, 0,
                (chunk(A, 4, 10, 1), chunk(A, 10, 14, 1), chunk(A, 4, 7, 2), chunk(A, 7, 10, 2)),
            ),
        ),
    ),
    Tree(B, (chunk(B, 0, 3),)),
)  # fmt: skip
VECTORS: dict[str, tuple[float, float]] = {
    "red": (0.6, 0.8), "green blue": (0.8, 0.6), "green": (0.6, -0.8), "blue": (0, 1),
    "gre": (1, 0), "en": (-1, 0), "x?": (1, 0), "y?": (0, 1),
}  # fmt: skip


def search(
    folder: Path, scope: Scope, levels: tuple[int, ...] = ()
) -> list[list[tuple[str, int, float, int]]]:
    questions = (Question("1", "a", "x?"), Question("2", "b", "x?"), Question("3", "a", "y?"))
    benchmark = Benchmark("own", "t", (A, B), questions, scope)
    embedder = remembered_embedder(folder, ChosenEmbedder(VECTORS))
    return [
        [(f.parent.document.id, f.place, round(f.score, 6), f.level) for f in found]
        for found in search_all(benchmark, TREES, embedder, levels)
    ]


def test_the_best_piece_finds_its_parent_in_the_questions_document(tmp_path: Path) -> None:
    assert search(tmp_path, "document") == [
        [("a", 1, 1.0, 2), ("a", 0, 0.6, 0)],
        [("b", 0, 0.6, 0)],
        [("a", 1, 1.0, 1), ("a", 0, 0.8, 0)],
    ]


def test_a_collection_is_searched_whole_and_ties_go_to_what_comes_first(tmp_path: Path) -> None:
    assert search(tmp_path, "collection") == [
        [("a", 1, 1.0, 2), ("a", 0, 0.6, 0), ("b", 0, 0.6, 0)],
        [("a", 1, 1.0, 2), ("a", 0, 0.6, 0), ("b", 0, 0.6, 0)],
        [("a", 1, 1.0, 1), ("a", 0, 0.8, 0), ("b", 0, 0.8, 0)],
    ]


@pytest.mark.parametrize(
    ("levels", "first", "third"),
    [
        ((0,), [("a", 1, 0.8, 0), ("a", 0, 0.6, 0)], [("a", 0, 0.8, 0), ("a", 1, 0.6, 0)]),
        ((1,), [("a", 0, 0.6, 0), ("a", 1, 0.6, 1)], [("a", 1, 1.0, 1), ("a", 0, 0.8, 0)]),
        ((2,), [("a", 1, 1.0, 2), ("a", 0, 0.6, 0)], [("a", 0, 0.8, 0), ("a", 1, 0.0, 2)]),
        ((0, 1), [("a", 1, 0.8, 0), ("a", 0, 0.6, 0)], [("a", 1, 1.0, 1), ("a", 0, 0.8, 0)]),
    ],
)
def test_levels(
    tmp_path: Path,
    levels: tuple[int, ...],
    first: list[tuple[str, int, float, int]],
    third: list[tuple[str, int, float, int]],
) -> None:
    found = search(tmp_path, "document", levels)
    assert found[0] == first
    assert found[2] == third


def test_each_piece_is_embedded_once(tmp_path: Path) -> None:
    embedder = ChosenEmbedder(VECTORS)
    questions = (Question("1", "a", "x?"), Question("2", "a", "y?"), Question("3", "b", "x?"))
    benchmark = Benchmark("own", "t", (A, B), questions)
    search_all(benchmark, TREES, remembered_embedder(tmp_path, embedder))
    asked = sorted(text.strip() for text in embedder.asked)
    # "red " of the one document and "red" of the other are two texts.
    assert asked == ["blue", "en", "gre", "green", "green blue", "red", "red", "x?", "y?"]


def test_a_question_to_a_document_without_text_finds_nothing(tmp_path: Path) -> None:
    empty = Document("e", "")
    benchmark = Benchmark("own", "t", (empty,), (Question("1", "e", "x?"),))
    embedder = remembered_embedder(tmp_path, HashEmbedder())
    assert search_all(benchmark, (Tree(empty, ()),), embedder) == [[]]


def test_parents_that_overlap_keep_their_places(tmp_path: Path) -> None:
    # As `fixed` with an overlap makes them; places are those of the tree.
    overlapping = Tree(A, (chunk(A, 0, 10), chunk(A, 4, 14)))
    embedder = remembered_embedder(tmp_path, ChosenEmbedder(VECTORS | {"red green": (0, 1)}))
    benchmark = Benchmark("own", "t", (A,), (Question("1", "a", "x?"),))
    [found] = search_all(benchmark, (overlapping,), embedder)
    assert [(f.place, f.parent.start) for f in found] == [(1, 4), (0, 0)]


def test_levels_that_won() -> None:
    [parent] = tree(B, 3).parents
    found = [[Found(parent, 0, 0.5, level) for level in some] for some in ([0, 1, 1], [2], [])]
    assert won(found) == {0: 0.25, 1: 0.5, 2: 0.25}
    assert won(found, depth=1) == {0: 0.5, 2: 0.5}
    assert won([[]]) == {}


def test_what_is_read_of_a_parent() -> None:
    assert read_span(chunk(A, 4, 10)) == (4, 10)
    assert read_span(chunk(A, 4, 10, window=(0, 14))) == (0, 14)
