from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc import Chunker, Options, Settings
from lgmgc.chunkers.global_rule import best_stops, standardised
from tests.fake import SCORES, FakeScorer


def value(
    stops: list[int], gains: list[float], sizes: list[int], most: int, target: int
) -> float | None:
    """What the rule maximises, by its formula; None where a run is over the limit."""
    total, start = 0.0, 0
    for stop in stops:
        size = sum(sizes[start:stop])
        if size > most:
            return None
        total += gains[stop - 1] - ((size - target) / target) ** 2
        start = stop
    return total - gains[-1]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3)), min_size=1, max_size=9),
    st.integers(5, 12),
    st.integers(1, 12),
)
@settings(deadline=None)
def test_no_division_is_better(items: list[tuple[int, float]], most: int, target: int) -> None:
    sizes, gains = [size for size, _ in items], [gain for _, gain in items]
    found = best_stops(np.array(gains), np.cumsum([0, *sizes]), most, target)
    assert found[-1] == len(items)
    every = [
        [*cuts, len(items)]
        for k in range(len(items))
        for cuts in combinations(range(1, len(items)), k)
    ]
    values = [value(stops, gains, sizes, most, target) for stops in every]
    best = max(each for each in values if each is not None)
    assert value(found, gains, sizes, most, target) == pytest.approx(best)


def test_by_hand() -> None:
    # Four items of 1, target 2. Cut after the second: 2 and nothing lost. After the first and
    # third: 0.7 + 0.7, and 1, 2, 1 lose 1/4 + 0 + 1/4: 0.9. Both 2 + 0.7 …: 1, 1, 2 lose 1/2.
    total = np.arange(5)
    assert best_stops(np.array([0.7, 2.0, 0.7, 9.0]), total, 3, 2) == [1, 2, 3, 4]
    assert best_stops(np.array([0.2, 2.0, 0.2, 9.0]), total, 3, 2) == [2, 4]
    assert best_stops(np.zeros(4), total, 3, 2) == [2, 4]
    assert best_stops(np.zeros(4), total, 4, 4) == [4]


def test_what_is_only_within_by_its_sum_is_not_taken() -> None:
    refused: set[tuple[int, int]] = {(0, 2), (2, 4), (0, 3)}
    stops = best_stops(
        np.zeros(4), np.arange(5), 3, 2, lambda start, stop: (start, stop) not in refused
    )
    # 1, 2, 1 and 1, 3 cost the same; of equals the longest last run.
    assert stops == [1, 4]


def test_standardised() -> None:
    assert standardised(np.full(3, np.nan)).tolist() == [0.0, 0.0, 0.0]
    assert standardised(np.zeros(0)).tolist() == []
    assert standardised(np.array([-np.inf, 0.0, 2.0])).tolist() == [-1.0, -1.0, 1.0]


def test_each_sentence_is_read_once_and_some_twice() -> None:
    # 3,000 sentences of 33 characters (tokens): windows of 1,024 with 96 in common.
    text = "".join(f"Sentence {k:05} is of six words. " for k in range(3_000))
    scorer = FakeScorer(SCORES["random"])
    tree = Chunker(Settings("global", 60), scorer).chunk(text)
    assert 1.05 < scorer.tokens / len(text) < 1.13
    assert max(map(max, scorer.batches)) <= 1024
    sizes = [parent.words for parent in tree.parents]
    assert max(sizes) <= 60
    assert len(sizes) == pytest.approx(3_000 * 6 / 40, abs=2)  # two thirds of θ


def test_target_and_strength() -> None:
    text = "".join(f"Sentence {k:05} is of six words. " for k in range(500))

    def sizes(**options: float) -> list[int]:
        settings = Settings("global", 60, options=Options(**options))  # type: ignore[arg-type]
        tree = Chunker(settings, FakeScorer(SCORES["random"])).chunk(text)
        return [parent.words for parent in tree.parents]

    assert set(sizes(strength=0.0, target=30)) == {30}
    some, more = sizes(strength=0.3, target=30), sizes(strength=3.0, target=30)
    assert np.std(more) > np.std(some) > 0
    assert len(some) == pytest.approx(100, abs=1)
    assert len(more) == pytest.approx(100, abs=1)
    assert len(sizes(target=600, strength=0.0)) == 50  # θ asks for more than the target does


def test_scores_of_the_ends_are_given() -> None:
    # log p is −1 where a sentence has 4 words, else −9: standardised, the first is higher.
    text = "One two three. One two three. One two three four. " * 20
    scorer = FakeScorer(
        lambda w: [-1.0 if n == 21 else -9.0 for n in np.diff(w.ends, prepend=0).tolist()]
    )
    parents = Chunker(Settings("global", 15), scorer).chunk(text).parents
    assert [parent.words for parent in parents] == [10] * 20
    assert len({parent.score for parent in parents[:-1]}) == 1
    assert parents[-1].score is None
