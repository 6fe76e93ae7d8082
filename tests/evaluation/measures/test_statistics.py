import math

import numpy as np
import pytest
import scipy.stats  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.evaluation.measures import statistics
from lgmgc.evaluation.measures.statistics import compare, interval

differences = st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=9)


def test_tiny_cases_by_hand() -> None:
    # Means of two draws: 0 (1/4), 1/2 (1/2), 1 (1/4).
    assert interval([0.0, 1.0]) == (0.5, 0.0, 1.0, 2)
    assert interval([2.0, 2.0, 2.0]) == (2.0, 2.0, 2.0, 3)
    # All of four signs must be alike: 2 of 16.
    assert compare([1.0, 2.0, 3.0, 4.0], [0.0] * 4).p == 1 / 8
    # 3 - 1 = 2: of ±3 ±1, all four are as large.
    assert compare([3.0, 0.0], [0.0, 1.0]) == (1.0, -1.0, 3.0, 1.0, 2)
    assert compare([1.0, 2.0], [1.0, 2.0]) == (0.0, 0.0, 0.0, 1.0, 2)


def test_too_few_to_tell() -> None:
    assert all(map(math.isnan, interval([])[:3]))
    mean, low, high, units = interval([0.5])
    assert (mean, units) == (0.5, 1)
    assert math.isnan(low)
    assert math.isnan(high)
    assert math.isnan(compare([], []).p)


def test_other_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="same questions"):
        compare([1.0, 2.0], [1.0])


def test_the_interval_is_scipys() -> None:
    values = np.random.default_rng(3).random(40) ** 2
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=2000, rng=np.random.default_rng(7)
    ).confidence_interval
    ours = interval(list(values), seed=7, resamples=2000)
    assert ours[1:3] == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values, baseline = list(np.random.default_rng(0).random((2, 30)))
    whole = compare(list(values), list(baseline), seed=5, resamples=500)
    monkeypatch.setattr(statistics, "_AT_ONCE", 30 * 7)
    assert compare(list(values), list(baseline), seed=5, resamples=500) == whole


@settings(max_examples=30, deadline=None)
@given(differences)
def test_exact_p_values_are_scipys(values: list[float]) -> None:
    theirs = scipy.stats.permutation_test(
        (values,), np.mean, permutation_type="samples", vectorized=True, n_resamples=np.inf
    ).pvalue
    assert compare(values, [0.0] * len(values), resamples=1).p == pytest.approx(theirs)


def test_drawn_p_values_are_near_the_exact_one() -> None:
    # 16 differences, so that ours draws, and scipy can go through all 65,536.
    values = list(np.random.default_rng(11).normal(0.2, 1, 16))
    exact = scipy.stats.permutation_test(
        (values,), np.mean, permutation_type="samples", vectorized=True, n_resamples=70_000
    ).pvalue
    assert 0.02 < exact < 0.9
    assert compare(values, [0.0] * 16).p == pytest.approx(exact, abs=0.02)
    # It is never 0: 1 / (1 + drawn) at least.
    assert compare([1.0] * 40, [0.0] * 40, resamples=99).p == 0.01


def test_documents_are_drawn_whole() -> None:
    # Two documents, means 0 and 1, with 1 and 3 questions. Drawn: both of one, or one of each.
    values, groups = [0.0, 1.0, 1.0, 1.0], ["x", "y", "y", "y"]
    assert interval(values, groups) == (0.75, 0.0, 1.0, 2)
    # Signs change by document: 0 is left out, 3 and -3 are both as large.
    assert compare(values, [0.0] * 4, groups).p == 1.0
    assert compare(values, [0.0] * 4).p == 0.25
    # Where the questions of a document say the same, twice as many of them tell nothing more.
    few = interval([0.0, 1.0, 2.0, 5.0], list("abcd"), seed=1)
    many = interval([0.0, 1.0, 2.0, 5.0] * 2, list("abcd") * 2, seed=1)
    assert few == many
    assert interval([0.0, 1.0, 2.0, 5.0] * 2, seed=1).high < many.high


def test_one_document_is_judged_by_its_questions() -> None:
    values = [0.0, 1.0, 1.0, 0.0]
    assert interval(values, ["x"] * 4) == interval(values)
    assert compare(values, [0.5] * 4, ["x"] * 4) == compare(values, [0.5] * 4)


@given(differences, st.integers(0, 3))
def test_swapping_the_sides_changes_the_sign_alone(values: list[float], seed: int) -> None:
    nothing = [0.0] * len(values)
    there = compare(values, nothing, seed=seed, resamples=50)
    back = compare(nothing, values, seed=seed, resamples=50)
    assert there == pytest.approx((-back.mean, -back.high, -back.low, back.p, back.units))


def test_most_intervals_hold_the_true_mean() -> None:
    # 200 samples of 60 from a known mean: about 95 % of the intervals hold it.
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        _, low, high, _ = interval(list(generator.random(60)), resamples=400)
        hits += low <= 0.5 <= high
    assert 0.90 <= hits / 200 <= 0.99
