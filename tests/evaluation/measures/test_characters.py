import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.evaluation.measures.characters import (
    Overlap,
    Place,
    common,
    length,
    overlap,
    precision_omega,
    union,
)

places = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 6)).map(
        lambda place: (place[0], place[1], place[1] + place[2])
    ),
    max_size=5,
)


def characters(some: list[Place]) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in some for at in range(start, end)}


def test_by_hand() -> None:
    # Evidence 10 to 20 and 50 to 60; retrieved 0 to 15, and 15 to 40 twice.
    references = [("a", 10, 20), ("a", 50, 60)]
    retrieved = [("a", 0, 15), ("a", 15, 40), ("a", 15, 40)]
    # 10 of 20 characters found; 15 + 25 + 25 paid; 10 missed.
    assert overlap(retrieved, references) == Overlap(10 / 20, 10 / 65, 10 / 75)


def test_nothing() -> None:
    assert overlap([], [("a", 0, 4)]) == (0.0, 0.0, 0.0)
    assert all(map(math.isnan, overlap([("a", 0, 4)], [])))
    assert math.isnan(precision_omega([("a", 0, 4)], [("a", 2, 2)]))


def test_spans_that_touch_share_nothing() -> None:
    assert overlap([("a", 0, 5)], [("a", 5, 9)]) == (0.0, 0.0, 0.0)
    assert overlap([("a", 0, 5)], [("b", 0, 5)]) == (0.0, 0.0, 0.0)
    # The chunk before is not among those that hold the reference: 4 of 10 characters.
    assert precision_omega([("a", 0, 5), ("a", 5, 15)], [("a", 5, 9)]) == 0.4


def test_references_that_overlap_count_once() -> None:
    assert overlap([("a", 0, 10)], [("a", 0, 6), ("a", 4, 10)]) == (1.0, 1.0, 1.0)


def test_precision_omega_of_chunks_that_miss_a_part() -> None:
    # 4 characters shared, 10 of the chunk, 2 of the reference in no chunk.
    assert precision_omega([("a", 0, 10)], [("a", 6, 12)]) == pytest.approx(4 / 12)


@given(places, places)
def test_as_sets_of_characters(left: list[Place], right: list[Place]) -> None:
    found, wanted = characters(left), characters(right)
    assert characters(union(left)) == found
    assert length(union(left)) == len(found)
    assert common(union(left), union(right)) == len(found & wanted)
    if wanted:
        recall, precision, iou = overlap(left, right)
        assert recall == len(found & wanted) / len(wanted)
        assert precision == len(found & wanted) / max(1, length(left))
        assert iou == len(found & wanted) / (length(left) + len(wanted - found))
        holding = characters([each for each in left if characters([each]) & wanted])
        assert precision_omega(left, right) == len(holding & wanted) / len(holding | wanted)
