import doctest
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers import semantic as module
from lgmgc.chunkers.method import Parent, Segmentation
from lgmgc.chunkers.options import Breakpoint, Options
from lgmgc.chunkers.semantic import (
    breaks,
    highest_of,
    neighbour_distances,
    semantic,
    within_theta,
)
from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.lm.requests import Embedding
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import measure_characters
from lgmgc.text.table import Limit, Sentences
from tests.chunkers.cutting import UNITS, Cut, anything, check_laws, limits, table
from tests.fake import TEXTS

NAN = float("nan")
BY_HAND = np.array([0.1, 0.5, 0.2, 0.9, 0.3])
SIX = "One. Two. Three. Four. Five. Six."


def follow(
    cut: Cut, sentences: Sentences, options: Options, answer: Callable[[Any], Any]
) -> tuple[Segmentation, list[list[Any]]]:
    """Drive a method, and keep what it asked for."""
    method = cut(sentences, options, Document("a", sentences.text))
    asked: list[list[Any]] = []
    answers: Sequence[Any] | None = None
    try:
        while True:
            requests = list(method.send(answers) if answers else next(method))
            assert requests
            assert all(0 <= one.start < one.stop <= len(sentences) for one in requests)
            asked.append(requests)
            answers = [answer(one) for one in requests]
    except StopIteration as end:
        made: Segmentation = end.value
        return made, asked


def laws(sentences: Sentences, parents: Sequence[Parent]) -> None:
    """Laws 1 and 2, and no sentence is divided; whatever the scores are."""
    unscored = [parent._replace(score=None) for parent in parents]
    check_laws(sentences.text, unscored, sentences.limits[0])
    assert {parent.end for parent in parents} <= set(sentences.bounds.tolist())


def ones(count: int, theta: int) -> Sentences:
    """Sentences of one character each."""
    total = np.arange(count + 1)
    return Sentences("x" * count, total, (total,), (Limit(measure_characters, theta),))


def apart(distances: Sequence[float]) -> ScoreArray:
    """Unit vectors with these distances between neighbours, in a plane."""
    angles = np.cumsum([0, *np.arccos(1 - np.array(distances))])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def hashed(request: Embedding) -> ScoreArray:
    """A unit vector for each text, a function of the text alone."""
    rows = [np.random.default_rng(zlib.crc32(t.encode())).normal(size=4) for t in request.texts]
    return np.array([row / np.linalg.norm(row) for row in rows])


@pytest.mark.parametrize(
    ("kind", "threshold", "stops"),
    [
        ("percentile", 95, [4]),  # 0.8 of the way from 0.5 to 0.9: 0.82
        ("percentile", 60, [2, 4]),  # 0.4 of the way from 0.3 to 0.5: 0.38
        ("percentile", 100, []),
        ("percentile", 0, [2, 3, 4, 5]),
        ("deviation", 3, []),  # the mean is 0.4, the deviation √0.08 = 0.283
        ("deviation", 1, [4]),
        ("deviation", 0, [2, 4]),
        ("deviation", -1, [2, 3, 4, 5]),
        # Gradients 0.4, 0.05, 0.2, 0.05, −0.6: the percentiles are 0.36 and 0.11.
        ("gradient", 95, [1]),
        ("gradient", 60, [1, 3]),
    ],
)
def test_breaks_by_hand(kind: Breakpoint, threshold: float, stops: list[int]) -> None:
    assert breaks(BY_HAND, kind, threshold) == stops


@pytest.mark.parametrize("kind", ["percentile", "deviation", "gradient"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 100])
def test_equal_distances_are_no_breaks(kind: Breakpoint, count: int) -> None:
    assert breaks(np.full(count, 0.1), kind, 0) == []


def test_what_is_embedded_and_what_comes_of_it() -> None:
    sentences = table(SIX, UNITS["words"](6))
    vectors = apart(BY_HAND.tolist())
    made, asked = follow(semantic, sentences, Options(), lambda request: vectors)
    assert asked == [
        [
            Embedding(
                0,
                6,
                (
                    "One. Two.",
                    "One. Two. Three.",
                    "Two. Three. Four.",
                    "Three. Four. Five.",
                    "Four. Five. Six.",
                    "Five. Six.",
                ),
            )
        ]
    ]
    assert [(parent.end, parent.score) for parent in made.parents] == [(23, 0.9), (33, None)]
    # θ of three words: 0.9 leaves four before it, which 0.5 divides.
    made, _ = follow(semantic, table(SIX, UNITS["words"](3)), Options(), lambda request: vectors)
    scores = [(parent.end, parent.score) for parent in made.parents]
    assert scores == [(10, 0.5), (23, 0.9), (33, None)]


def test_options_are_read() -> None:
    sentences, vectors = table(SIX, UNITS["words"](6)), apart(BY_HAND.tolist())
    options = Options(breakpoint="deviation", threshold=0)
    made, _ = follow(semantic, sentences, options, lambda request: vectors)
    assert [parent.end for parent in made.parents] == [10, 23, 33]


@pytest.mark.parametrize("threshold", [-0.1, 100.1])
def test_a_percentile_is_one(threshold: float) -> None:
    for kind in ("percentile", "gradient"):
        options = Options(breakpoint=kind, threshold=threshold)
        with pytest.raises(UsageError, match=rf"{threshold}.*{kind}.*0 to 100"):
            follow(semantic, ones(0, 1), options, hashed)
    follow(semantic, ones(0, 1), Options(breakpoint="deviation", threshold=threshold), hashed)


@pytest.mark.parametrize("text", ["", "One.", " \n "])
def test_where_there_is_nothing_to_compare_nothing_is_asked(text: str) -> None:
    made, asked = follow(semantic, table(text, UNITS["words"](3)), Options(), hashed)
    assert asked == []
    assert [(parent.end, parent.score) for parent in made.parents] == [(len(text), None)] * bool(
        text
    )


def test_white_space_is_not_embedded() -> None:
    # Sentences of ten characters: "A." with white space, five of white space alone, "B.".
    sentences = table("A." + " " * 58 + "B.", UNITS["characters"](10))
    made, [[request]] = follow(semantic, sentences, Options(threshold=0), hashed)
    assert request.texts == ("A.", "A.", "B.", "B.")
    assert all(len(text) <= 10 for text in map(sentences.text.__getitem__, spans(made)))


def spans(made: Segmentation) -> list[slice]:
    return [slice(parent.start, parent.end) for parent in made.parents]


@pytest.mark.parametrize("portion", [1, 2, 7])
def test_portions_change_nothing(portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = table(" ".join(f"Sentence {k * k % 97}." for k in range(300)), UNITS["words"](40))
    whole, asked = follow(semantic, sentences, Options(threshold=80), hashed)
    assert [len(request.texts) for [request] in asked] == [256, 44]
    monkeypatch.setattr(module, "PORTION", portion)
    parts, asked = follow(semantic, sentences, Options(threshold=80), hashed)
    assert parts == whole
    assert max(len(request.texts) for [request] in asked) == portion


def test_law_4_last_bits_move_no_cut() -> None:
    sentences = table("Yes. No. " * 200, UNITS["words"](50))

    def shaken(request: Embedding) -> ScoreArray:
        noise = np.random.default_rng(len(request.texts)).normal(size=(len(request.texts), 4))
        return hashed(request) + 1e-8 * noise

    for kind in ("percentile", "deviation", "gradient"):
        options = Options(breakpoint=kind)
        exact, shook = (follow(semantic, sentences, options, by)[0] for by in (hashed, shaken))
        assert exact == shook


@pytest.mark.parametrize("value", [NAN, float("inf"), 0.0])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_vectors_that_say_nothing_leave_theta_alone(value: float) -> None:
    sentences = table("Yes. " * 8, UNITS["words"](3))
    made, _ = follow(
        semantic, sentences, Options(), lambda request: np.full((len(request.texts), 3), value)
    )
    assert [parent.end for parent in made.parents] == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("distances", "stops"),
    [
        ([0.1, 0.9, 0.2, 0.3, 0.4], [2, 5, 6]),
        ([0.5] * 7, [2, 4, 6, 8]),  # halves
        ([0.1, 0.2, 0.3, 0.4, 0.5], [3, 4, 5, 6]),  # one by one from the end until three are left
        ([0.5, 0.4, 0.3, 0.2, 0.1], [1, 2, 3, 6]),
        ([0.0, 0.0], [3]),
        ([], [1]),
    ],
)
def test_within_theta_by_hand(distances: list[float], stops: list[int]) -> None:
    count = len(distances) + 1
    assert within_theta(ones(count, 3), [count], np.array(distances)) == stops


def test_breaks_that_are_there_are_kept() -> None:
    distances = np.array([0.1, 0.9, 0.2, 0.3, 0.4])
    # From 3 to 6 there is room; 0 to 3 is within two only after the cut at 0.9.
    assert within_theta(ones(6, 2), [3, 6], distances) == [2, 3, 5, 6]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.data())
def test_highest_is_the_middle_of_the_largest(values: list[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(values) - 1))
    stop = data.draw(st.integers(start + 1, len(values)))
    most = max(values[start:stop])
    places = [k for k in range(start, stop) if values[k] == most]
    highest = highest_of(np.array(values, np.float64))
    assert highest(start, stop) == places[len(places) // 2]


def test_runs_that_lose_a_sentence_at_a_time_are_no_trouble() -> None:
    count = 20_000
    for distances in (np.linspace(0, 1, count - 1), np.zeros(count - 1)):
        for falling in (distances, distances[::-1]):
            stops = within_theta(ones(count, 10), [count], falling)
            assert stops[-1] == count
            assert max(b - a for a, b in pairwise([0, *stops])) <= 10


@given(st.one_of(st.sampled_from([t for t in TEXTS.values() if len(t) < 3_000]), anything), limits)
@settings(max_examples=120, deadline=None)
def test_laws(text: str, limit: Limit) -> None:
    sentences = table(text, limit)
    for kind in ("percentile", "deviation", "gradient"):
        options = Options(breakpoint=kind, threshold=60 if kind != "deviation" else 1)
        made, asked = follow(semantic, sentences, options, hashed)
        laws(sentences, made.parents)
        assert sum(len(request.texts) for [request] in asked) <= len(sentences)
        assert (made.retries, made.fallbacks) == (0, 0)
        assert all((parent.score is None) == (parent.end == len(text)) for parent in made.parents)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if len(text) >= 3_000])
@pytest.mark.parametrize("unit", UNITS)
def test_laws_on_long_texts(name: str, unit: str) -> None:
    sentences = table(TEXTS[name], UNITS[unit](1_000))
    laws(sentences, follow(semantic, sentences, Options(), hashed)[0].parents)


def test_law_5_each_sentence_is_embedded_once() -> None:
    for times in (1_000, 2_000):
        sentences = table("A sentence of six words here. " * times, UNITS["words"](100))
        _, asked = follow(semantic, sentences, Options(), hashed)
        assert sum(len(request.texts) for [request] in asked) == times
        assert len(asked) == -(-times // module.PORTION)


def test_distances_are_rounded_and_in_range() -> None:
    sentences = table(SIX, UNITS["words"](6))
    reading = neighbour_distances(sentences)
    next(reading)
    opposite = np.array([[1.0, 0.0], [-1.0, 1e-9]] * 3)
    with pytest.raises(StopIteration) as end:
        reading.send([opposite])
    assert end.value.value.tolist() == [2.0] * 5


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0
