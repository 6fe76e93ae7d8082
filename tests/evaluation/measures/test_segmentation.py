import math

import numpy as np
import pytest
import segeval  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from nltk.metrics.segmentation import pk as nltk_pk
from nltk.metrics.segmentation import windowdiff as nltk_windowdiff

from lgmgc.evaluation.measures.segmentation import auc, boundary_f1, pk, window_diff, window_size


def ends(marks: str) -> np.ndarray:
    return np.array([mark == "1" for mark in marks])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    size = draw(st.integers(1, 40))
    marks = st.text("01", min_size=size, max_size=size)
    return draw(marks), draw(marks)


@given(pairs(), st.integers(2, 12))
def test_as_nltk(pair: tuple[str, str], k: int) -> None:
    gold, guess = pair
    # nltk's strings have a mark for each unit; the last unit's has no place of ours. A window of
    # its windowdiff holds k marks, one of its pk compares k of them as well.
    if k > len(gold):
        assert math.isnan(pk(ends(gold), ends(guess), k))
        return
    assert pk(ends(gold), ends(guess), k) == pytest.approx(nltk_pk(gold, guess, k))
    assert window_diff(ends(gold), ends(guess), k) == pytest.approx(nltk_windowdiff(gold, guess, k))


@given(pairs(), st.none() | st.integers(2, 12))
def test_as_segeval(pair: tuple[str, str], k: int | None) -> None:
    gold, guess = map(ends, pair)
    if (k or window_size(gold)) > len(gold):
        return  # segeval says 0 or divides by zero, where we say NaN
    # Its segments are sizes in units, its results decimal fractions.
    masses = [sizes(marks) for marks in (guess, gold)]
    theirs = [measure(*masses, window_size=k) for measure in (segeval.pk, segeval.window_diff)]
    assert [pk(gold, guess, k), window_diff(gold, guess, k)] == pytest.approx([*map(float, theirs)])
    assert segeval.compute_window_size(masses[1]) == window_size(gold)


def sizes(marks: np.ndarray) -> tuple[int, ...]:
    stops = [*(np.flatnonzero(marks) + 1), len(marks) + 1]
    return tuple(int(size) for size in np.diff([0, *stops]))


def test_by_hand() -> None:
    gold, guess = ends("00100"), ends("01000")
    # Six units, k = 2: pairs (0,2) (1,3) (2,4) (3,5) hold the places 01 12 23 34.
    # gold 0 1 1 0, guess 1 1 0 0: the first and the third differ.
    assert pk(gold, guess, 2) == 0.5
    assert window_diff(gold, guess, 2) == 0.5
    assert boundary_f1(gold, guess) == 0.0
    assert boundary_f1(gold, ends("00110")) == pytest.approx(2 / 3)  # precision 1/2, recall 1
    assert pk(gold, gold) == window_diff(gold, gold) == 0.0
    assert boundary_f1(gold, gold) == 1.0
    # Two near misses in one window: pk sees one, window_diff counts.
    assert (pk(ends("01000"), ends("01100"), 3), window_diff(ends("01000"), ends("01100"), 3)) == (
        1 / 3, 1.0
    )  # fmt: skip


def test_window_size() -> None:
    assert window_size(ends("0" * 9)) == 5
    assert window_size(ends("1" * 9)) == 2


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), max_size=30))
def test_auc_is_the_share_of_pairs_in_order(items: list[tuple[int, bool]]) -> None:
    scores = np.array([float(score) for score, _ in items])
    gold = np.array([mark for _, mark in items], bool)
    wins = [
        (a > b) + (a == b) / 2
        for a, one in items
        if one
        for b, other in items
        if not other
    ]  # fmt: skip
    if wins:
        assert auc(scores, gold) == pytest.approx(sum(wins) / len(wins))
    else:
        assert math.isnan(auc(scores, gold))


def test_auc_leaves_nan_out() -> None:
    assert auc(np.array([1.0, np.nan, 0.0]), ends("110")) == 1.0
