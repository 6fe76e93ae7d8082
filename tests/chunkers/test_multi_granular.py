from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers.multi_granular import pack, pieces
from lgmgc.text.sizes import count_words, measure_characters, measure_words
from lgmgc.text.table import Limit


def total(sizes: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.cumsum([0, *sizes]).astype(np.int64)


def runs(sizes: list[int], stops: list[int]) -> list[int]:
    return [sum(sizes[a:b]) for a, b in pairwise([0, *stops])]


@pytest.mark.parametrize(
    ("sizes", "most", "stops"),
    [
        ([], 5, []),
        ([3], 5, [1]),
        ([1, 1, 1, 1], 4, [4]),
        ([1, 1, 1, 1], 3, [2, 4]),  # greedy alone would be 3 and 1
        ([4, 1, 1, 1, 1], 7, [1, 5]),
        ([5, 5, 5], 10, [2, 3]),  # 5+5 and 5: no two runs are more even
        ([2, 3, 2, 3, 2], 7, [3, 5]),
        ([5, 5, 5], 5, [1, 2, 3]),
        ([0, 5, 0, 5, 0], 5, [3, 5]),
        ([0, 0], 1, [2]),
    ],
)
def test_pack_by_hand(sizes: list[int], most: int, stops: list[int]) -> None:
    assert pack(total(sizes), most) == stops


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(6, 14))
def test_pack_is_the_best_of_all_ways(sizes: list[int], most: int) -> None:
    n = len(sizes)
    ways = (
        runs(sizes, [*inner, n]) for count in range(n) for inner in combinations(range(1, n), count)
    )
    possible = [way for way in ways if max(way) <= most]
    fewest = min(map(len, possible))
    smallest = min(max(way) for way in possible if len(way) == fewest)
    stops = pack(total(sizes), most)
    assert stops[-1] == n
    assert all(a < b for a, b in pairwise([0, *stops]))
    ours = runs(sizes, stops)
    assert (len(ours), max(ours)) == (fewest, smallest)


def test_pieces_by_hand() -> None:
    text = "xx a b c. d e. f. g h i j. "
    #       parent from 3: sizes 3, 2, 1, 4 words; ends 10, 15, 18, 27
    bounds = np.array([3, 10, 15, 18, 27])
    assert pieces(text, bounds, Limit(measure_words, 10)) == [(3, 27)]
    # At most 6: 3+2+1 | 4 is two runs, the largest 6; 3+2 | 1+4 has 5.
    assert pieces(text, bounds, Limit(measure_words, 6)) == [(3, 15), (15, 27)]
    # At most 3: the last sentence is divided into 3 and 1; 3 | 2+1 | 3 | 1.
    assert pieces(text, bounds, Limit(measure_words, 3)) == [(3, 10), (10, 18), (18, 24), (24, 27)]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab .\n今。\u0301", min_size=1, max_size=60), st.data())
def test_pieces_tile_the_parent_within_the_limit(text: str, data: st.DataObject) -> None:
    inner = data.draw(st.sets(st.integers(1, len(text)), max_size=6))
    bounds = sorted({0, len(text)} | inner)
    most = data.draw(st.integers(1, 8))
    for measure, size in ((measure_words, count_words), (measure_characters, len)):
        spans = pieces(text, np.array(bounds), Limit(measure, most))
        assert "".join(text[a:b] for a, b in spans) == text
        assert all(size(text[a:b]) <= most for a, b in spans)
        assert all(a < b for a, b in spans)
