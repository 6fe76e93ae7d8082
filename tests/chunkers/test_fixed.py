import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers.fixed import fixed, longest
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.words import grapheme_ends, word_bounds
from lgmgc.document import Document
from lgmgc.text.sizes import IntArray, count_words, measure_characters, measure_words
from lgmgc.text.table import Limit
from tests.chunkers.cutting import (
    UNITS,
    Counting,
    anything,
    check_laws,
    finish,
    limits,
    prose,
    run,
    table,
    texts,
)
from tests.fake import FAMILY, TEXTS


@pytest.mark.parametrize(
    ("text", "unit", "theta", "overlap", "chunks"),
    [
        ("a b c d e", "words", 2, 0, ["a b ", "c d ", "e"]),
        ("\n a b. c", "words", 1, 0, ["\n a ", "b. ", "c"]),  # sentences do not matter
        ("今天很好。x y z", "words", 3, 0, ["今天很", "好。x y ", "z"]),
        ("a b c d e f", "words", 3, 1, ["a b c ", "c d e ", "e f"]),
        ("a b c d e", "words", 3, 1, ["a b c ", "c d e"]),  # "e" alone would only repeat
        ("a b c d e", "words", 3, 2, ["a b c ", "b c d ", "c d e"]),
        ("a b c d e", "words", 9, 2, ["a b c d e"]),
        ("abcdefg", "characters", 3, 0, ["abc", "def", "g"]),
        ("abcdefg", "characters", 3, 2, ["abc", "bcd", "cde", "def", "efg"]),
        ("abe\u0301f", "characters", 3, 0, ["ab", "e\u0301f"]),
        ("ab\r\nc", "characters", 3, 0, ["ab", "\r\nc"]),
        # The joined emoji has five code points: nothing can be repeated in front of it.
        (f"abc{FAMILY}de", "characters", 5, 4, ["abc", FAMILY, "de"]),
        (f"abc{FAMILY}de", "characters", 6, 2, ["abc", f"c{FAMILY}", "de"]),
        (f"abc{FAMILY}", "characters", 4, 0, ["abc", FAMILY[:4], FAMILY[4:]]),
        ("aa bb cc", "tokens", 6, 0, ["aa bb ", "cc"]),
        ("aa bb cc dd", "tokens", 7, 4, ["aa bb ", "bb cc ", "cc dd"]),
        # A word of eight is divided, and what is left of it filled up.
        ("aa bbbbbb c d", "tokens", 5, 0, ["aa ", "bbbbb", "b c d"]),
        ("aa bbbbbb c d", "tokens", 5, 3, ["aa ", "bbbbb", "b c d"]),
    ],
)
def test_by_hand(text: str, unit: str, theta: int, overlap: int, chunks: list[str]) -> None:
    parents = run(fixed, text, UNITS[unit](theta), Options(overlap=overlap))
    assert texts(text, parents) == chunks


def test_tokens_are_counted_of_the_chunk_not_of_its_words() -> None:
    # As most tokenizers do it: white space is a token only where no word follows.
    def measure(given: Sequence[str]) -> IntArray:
        return np.array([len(re.findall(r" ?\w+| ", text)) for text in given], np.int64)

    # Alone each of these words with its space is two, "a b c " is four, and so is "a b c d".
    chunks = texts("a b c d e f", run(fixed, "a b c d e f", Limit(measure, 4, additive=False)))
    assert chunks == ["a b c ", "d e f"]
    chunks = texts("a b c d", run(fixed, "a b c d", Limit(measure, 4, additive=False)))
    assert chunks == ["a b c d"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    check_laws(TEXTS[name], run(fixed, TEXTS[name], limit), limit)


@given(anything | prose, limits)
@settings(max_examples=300, deadline=None)
def test_laws_and_that_nothing_more_would_fit(text: str, limit: Limit) -> None:
    parents = run(fixed, text, limit)
    check_laws(text, parents, limit)
    ends = word_bounds(text).tolist()
    if limit.measure is measure_characters:
        ends = grapheme_ends(text, 0, len(text))
    for parent in parents[:-1]:
        if parent.end in ends:  # it is not within one that exceeds the limit
            more = next(end for end in ends if end > parent.end)
            assert not limit.fits(text[parent.start : more])
    if limit.measure is measure_words and text.strip():
        sizes = [count_words(chunk) for chunk in texts(text, parents)]
        assert all(size == limit.most for size in sizes[:-1])
        assert 1 <= sizes[-1] <= limit.most


@given(anything | prose, limits, st.data())
@settings(max_examples=300, deadline=None)
def test_overlap_loses_nothing_repeats_little_and_goes_on(
    text: str, limit: Limit, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(1, limit.most - 1))
    parents = run(fixed, text, limit, Options(overlap=overlap))
    assert [p.start for p in parents[:1]] == [0] * bool(text)
    assert [p.end for p in parents[-1:]] == [len(text)] * bool(text)
    for parent in parents:
        assert limit.fits(text[parent.start : parent.end])
    for left, right in pairwise(parents):
        assert left.start < right.start <= left.end < right.end
        assert limit.measure([text[right.start : left.end]])[0] <= overlap


@pytest.mark.parametrize("unit", ["words", "tokens", "uneven"])
def test_each_character_is_measured_a_few_times(unit: str) -> None:
    # Long words beside short ones, so that guesses go wrong.
    text = "".join("ab" * (k * k % 40) + " " + "b " * (k % 90) for k in range(1_500))
    for overlap in (0, 10):
        count = Counting(UNITS[unit](200))
        sentences = table(text, count.limit)
        count.seen = 0
        finish(fixed(sentences, Options(overlap=overlap), Document("a", text)))
        assert count.seen <= (3 if unit == "words" else 10) * len(text)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(0, 500), st.integers(0, 99)
)
def test_longest_is_the_largest_that_fits(steps: list[int], most: int, guess: int) -> None:
    sizes = [sum(steps[:k]) for k in range(len(steps) + 1)]
    expected = max(k for k, size in enumerate(sizes) if size <= most)
    assert longest(sizes.__getitem__, most, 0, len(steps), guess) == expected


def test_longest_asks_little() -> None:
    asked: list[int] = []

    def size(n: int) -> int:
        asked.append(n)
        return 2 * n

    assert longest(size, 1_001, 0, 10**9, 300) == 500
    assert len(asked) <= 3
    assert max(asked) <= 501
