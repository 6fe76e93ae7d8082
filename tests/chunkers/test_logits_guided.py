import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers.logits_guided import TIE, best, logits_guided
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import measure_characters
from lgmgc.text.table import Limit, Sentences

Cut = tuple[int, float | None]
INF = float("inf")
NAN = float("nan")


def table(sizes: Sequence[int], theta: int, others: Sequence[int] = ()) -> Sentences:
    """Sentences of given sizes, and of one each in a second unit of which ``others`` fit."""
    n = len(sizes)
    totals = [np.cumsum([0, *sizes]), *(np.arange(n + 1) for _ in others)]
    limits = [Limit(measure_characters, most) for most in (theta, *others)]
    return Sentences("x" * n, np.arange(n + 1), tuple(totals), tuple(limits))


def follow(
    sentences: Sentences, score: Callable[[int, int], float], chain: int = 0
) -> tuple[list[Cut], list[list[tuple[int, int]]]]:
    """Drive the method with ``score(first sentence of the window, sentence)``."""
    method = logits_guided(sentences, Options(), Document("", ""), chain)
    asked: list[list[tuple[int, int]]] = []
    try:
        windows = next(method)
        while True:
            runs = [(window.start, window.stop) for window in windows]
            asked.append(runs)
            scores: list[ScoreArray] = [
                np.array([[score(start, k) for k in range(start, stop)]]) for start, stop in runs
            ]
            windows = method.send(scores)
    except StopIteration as end:
        # A sentence is a character here, so an end is one past a sentence.
        return [(parent.end, parent.score) for parent in end.value.parents], asked


@pytest.mark.parametrize(
    ("scores", "k"),
    [
        ([-3.0], 0),
        ([-1.0, -2.0, -3.0], 0),
        ([-3.0, -2.0, -1.0], 2),
        ([-2.0, -1.0, -1.0, -2.0], 2),  # of equals the last
        ([0.0, 0.0, 0.0], 2),
        ([-1.0, -1.0 - TIE / 2, -5.0], 1),  # near ties are ties
        ([-1.0, -1.0 - 2 * TIE, -5.0], 0),
        ([-1.0 - TIE / 2, -1.0, -5.0], 1),
        ([NAN, -9.0, NAN], 1),
        ([NAN, NAN, NAN], 2),
        ([-INF, -INF], 1),
        ([-INF, NAN, -INF], 2),
        ([NAN, -INF, -800.0, -INF], 2),
        ([NAN], 0),
    ],
)
def test_best_by_hand(scores: list[float], k: int) -> None:
    assert best(np.array(scores)) == k


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=9))
def test_best_is_a_place_that_none_beats_by_more_than_a_tie(scores: list[float]) -> None:
    k = best(np.array(scores))
    clean = [-INF if score != score else score for score in scores]
    assert clean[k] >= max(clean) - TIE
    assert all(score < max(clean) - TIE for score in clean[k + 1 :])


def test_what_is_left_goes_in_front_of_the_next_window() -> None:
    scores = {
        (0, 0): -1.0, (0, 1): -5.0, (0, 2): -9.0,
        (1, 1): -9.0, (1, 2): -9.0, (1, 3): -2.0,
    }  # fmt: skip
    cuts, asked = follow(table([1] * 7, theta=3), lambda start, k: scores[start, k])
    # 0 is cut off; 1 and 2, read already, go in front of 3; then 4, 5, 6 fit and are the last.
    assert asked == [[(0, 3)], [(1, 4)]]
    assert cuts == [(1, -1.0), (4, -2.0), (7, None)]


def test_sizes_decide_how_far_a_window_goes() -> None:
    # Sizes 2 2 3 1 4, at most 5: windows 0-2 (4), then from 1: 2+3 = 5, from 3: 1+4 is all.
    cuts, asked = follow(table([2, 2, 3, 1, 4], theta=5), lambda start, k: -abs(k - 2.0))
    # From 0 the best of 0, 1 is 1; from 2: 3+1 = 4, the best of 2, 3 is 2; 3 and 4 are left: 5.
    assert asked == [[(0, 2)], [(2, 4)]]
    assert cuts == [(2, -1.0), (3, 0.0), (5, None)]


def test_the_models_context_shortens_windows() -> None:
    cuts, asked = follow(table([1] * 5, theta=5, others=[2]), lambda start, k: 0.0)
    assert asked == [[(0, 2)], [(2, 4)]]
    assert cuts == [(2, 0.0), (4, 0.0), (5, None)]


@pytest.mark.parametrize("sizes", [[], [3], [1, 1, 1]])
def test_what_fits_whole_asks_nothing(sizes: list[int]) -> None:
    cuts, asked = follow(table(sizes, theta=3), lambda start, k: 0.0, chain=32)
    assert asked == []
    assert cuts == ([(len(sizes), None)] if sizes else [])


@pytest.mark.parametrize(
    ("score", "stops", "value"),
    [
        (lambda start, k: -float(k), [1, 2, 3], "first"),  # all mass on the first sentence
        (lambda start, k: float(k), [2, 4], "last"),
        (lambda start, k: 0.0, [2, 4], "equal"),
        (lambda start, k: NAN, [2, 4], None),
        (lambda start, k: -INF, [2, 4], None),
    ],
)
def test_every_window_consumes_a_sentence(
    score: Callable[[int, int], float], stops: list[int], value: str | None
) -> None:
    cuts, _ = follow(table([1] * 5, theta=2), score)
    assert [stop for stop, _ in cuts] == [*stops, 5]
    assert all((score is None) == (value is None) for _, score in cuts[:-1])


def seeded(seed: int) -> Callable[[int, int], float]:
    """Arbitrary scores, a function of the window's first sentence and the sentence alone."""

    def score(start: int, k: int) -> float:
        return random.Random(f"{seed} {start} {k}").choice([NAN, -INF, 0.0, -1.0, -2.0, -3.0])

    return score


@settings(max_examples=100, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 5), max_size=60),
    theta=st.integers(5, 12),
    chain=st.integers(1, 4),
    seed=st.integers(0, 1_000),
)
def test_several_chains_make_the_cuts_of_one(
    sizes: list[int], theta: int, chain: int, seed: int
) -> None:
    sentences = table(sizes, theta)
    score = seeded(seed)
    one, asked_one = follow(sentences, score)
    many, asked_many = follow(sentences, score, chain)
    assert many == one
    assert all(len(windows) == 1 for windows in asked_one)
    # No window is read twice, and every one that a single chain reads is read.
    read_one = [window for windows in asked_one for window in windows]
    read_many = [window for windows in asked_many for window in windows]
    assert len(set(read_many)) == len(read_many) <= len(sentences)
    assert set(read_one) <= set(read_many)


def test_chains_lose_a_few_windows_each_and_read_many_at_once() -> None:
    generator = random.Random(0)
    sizes = [generator.randint(1, 30) for _ in range(6_000)]
    theta = 100
    sentences = table(sizes, theta)
    # Scores that depend on the place alone, as a model's nearly do.
    places = [generator.random() for _ in sizes]
    _, asked_one = follow(sentences, lambda start, k: places[k])
    _, asked_many = follow(sentences, lambda start, k: places[k], chain=16)
    chains = len(asked_many[0])
    assert chains == sum(sizes) // (16 * theta)
    windows = sum(map(len, asked_many))
    assert windows <= len(asked_one) + 4 * chains
    assert len(asked_many) <= len(asked_one) / chains * 3


def test_chains_that_never_meet_are_given_up() -> None:
    # Nothing to choose: every chain packs from its own start, and no two have a cut in common.
    sentences = table([1] * 5_003, theta=10)
    one, asked_one = follow(sentences, lambda start, k: NAN)
    many, asked_many = follow(sentences, lambda start, k: NAN, chain=16)
    assert many == one
    assert len(asked_many[0]) == 31
    assert sum(map(len, asked_many)) <= 3 * len(asked_one)


def test_a_document_without_words_is_one_parent() -> None:
    # Sentences of white space have no size: all of them fit anywhere.
    cuts, asked = follow(table([0, 0, 0], theta=1), lambda start, k: 0.0, chain=32)
    assert (cuts, asked) == ([(3, None)], [])
