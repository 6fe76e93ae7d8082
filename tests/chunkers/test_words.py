from itertools import accumulate, pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.chunkers.words import grapheme_end, grapheme_ends, word_bounds
from lgmgc.text.sizes import count_words
from tests.chunkers.cutting import anything


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n", [" \n"]),
        ("a", ["a"]),
        ("  a  b.\nc ", ["  a  ", "b.\n", "c "]),
        ("好。 iPhone手机 x", ["好。 ", "iPhone", "手", "机 ", "x"]),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    bounds = word_bounds(text).tolist()
    assert [text[a:b] for a, b in pairwise(bounds)] == words


@given(anything, st.integers(0, 20), st.integers(1, 20))
def test_words_that_follow_one_another_count_as_many(text: str, first: int, count: int) -> None:
    bounds = word_bounds(text).tolist()
    assert bounds[0] == 0
    assert bounds[-1] == len(text)
    if text.strip() and first + count < len(bounds):
        assert count_words(text[bounds[first] : bounds[first + count]]) == count


@given(anything, st.data())
def test_graphemes_are_those_of_the_regex_library(text: str, data: st.DataObject) -> None:
    ends = list(accumulate(map(len, regex.findall(r"\X", text))))
    start = data.draw(st.sampled_from([0, *ends]))
    stop = data.draw(st.integers(start, len(text)))
    assert list(grapheme_ends(text, start, stop)) == [end for end in ends if start < end <= stop]
    if start < stop:
        assert grapheme_end(text, start, stop) == min(next(e for e in ends if e > start), stop)
