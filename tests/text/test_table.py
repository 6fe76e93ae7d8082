from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.text.sizes import measure_characters, measure_words
from lgmgc.text.table import Limit, Sentences, tabulate

#        words  characters
# "a b "     2  4
# "c "       1  2
# "d e f "   3  6
# "g h "     2  4
TEXT = "a b c d e f g h "
BOUNDS = [0, 4, 6, 12, 16]


def table(words: int, characters: int | None = None) -> Sentences:
    limits = [Limit(measure_words, words)]
    if characters is not None:
        limits.append(Limit(measure_characters, characters))
    return tabulate(TEXT, BOUNDS, limits)


def test_sizes_and_texts() -> None:
    sentences = table(3, 6)
    assert len(sentences) == 4
    assert [total.tolist() for total in sentences.totals] == [[0, 2, 3, 6, 8], [0, 4, 6, 12, 16]]
    assert sentences.texts() == ["a b ", "c ", "d e f ", "g h "]
    assert sentences.texts(1, 3) == ["c ", "d e f "]
    assert sentences.texts(3) == ["g h "]
    assert sentences.texts(2, 2) == []
    assert sentences.divided == 0


@pytest.mark.parametrize(
    ("words", "characters", "stops"),
    [
        (3, None, [2, 2, 3, 4]),
        (5, None, [2, 3, 4, 4]),
        (8, None, [4, 4, 4, 4]),
        (5, 6, [2, 2, 3, 4]),  # 6 characters end what 5 words would hold
        (3, 100, [2, 2, 3, 4]),
        (6, 12, [3, 4, 4, 4]),
    ],
)
def test_fit_keeps_every_limit(words: int, characters: int | None, stops: list[int]) -> None:
    sentences = table(words, characters)
    assert [sentences.fit(start) for start in range(4)] == stops


def test_shortened_tells_where_the_second_limit_rules() -> None:
    assert [table(5, 6).shortened(start) for start in range(4)] == [False, True, True, False]
    assert not any(table(5).shortened(start) for start in range(4))


def test_fit_takes_one_sentence_at_least() -> None:
    one = Sentences(TEXT, table(8).bounds, table(8).totals, (Limit(measure_words, 1),))
    assert [one.fit(start) for start in range(4)] == [1, 2, 3, 4]


def test_largest_window_by_another_measure() -> None:
    # Runs within 5 words from each sentence: 6, 8, 10 and 4 characters.
    assert table(5).largest_window(measure_characters) == 10
    assert table(8).largest_window(measure_characters) == 16
    assert tabulate("", [0], [Limit(measure_words, 5)]).largest_window(measure_characters) == 0


def test_no_text_has_no_sentences() -> None:
    sentences = tabulate("", [0], [Limit(measure_words, 5)])
    assert len(sentences) == 0
    assert sentences.texts() == []


def test_a_sentence_over_the_limit_is_divided() -> None:
    sentences = tabulate(TEXT, BOUNDS, [Limit(measure_words, 2)])
    assert sentences.texts() == ["a b ", "c ", "d e ", "f ", "g h "]
    assert sentences.divided == 1
    assert [sentences.fit(start) for start in range(5)] == [1, 2, 3, 4, 5]


def test_a_sentence_that_two_limits_divide_counts_once() -> None:
    sentences = tabulate(TEXT, BOUNDS, [Limit(measure_words, 2), Limit(measure_characters, 3)])
    assert sentences.texts() == ["a ", "b ", "c ", "d ", "e ", "f ", "g ", "h "]
    assert sentences.divided == 3


def test_part_of_a_text() -> None:
    sentences = tabulate(TEXT, [4, 6, 12], [Limit(measure_words, 2)])
    assert sentences.texts() == ["c ", "d e ", "f "]
    assert sentences.bounds.tolist() == [4, 6, 10, 12]


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="ab \n今。", max_size=60),
    st.data(),
    st.integers(1, 6),
    st.integers(1, 12),
)
def test_every_sentence_and_every_run_keeps_both_limits(
    text: str, data: st.DataObject, words: int, characters: int
) -> None:
    inner = data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=8))
    bounds: Sequence[int] = sorted({0, len(text)} | {k for k in inner if k < len(text)})
    limits = [Limit(measure_words, words), Limit(measure_characters, characters)]
    sentences = tabulate(text, bounds, limits)
    assert "".join(sentences.texts()) == text
    assert set(bounds) <= set(sentences.bounds.tolist())
    assert all(limit.fits(piece) for limit in limits for piece in sentences.texts())
    for start in range(len(sentences)):
        stop = sentences.fit(start)
        assert start < stop <= len(sentences)
        run = text[sentences.bounds[start] : sentences.bounds[stop]]
        assert all(limit.fits(run) for limit in limits)
        if stop < len(sentences):  # one sentence more would exceed one of them
            sizes = [total[stop + 1] - total[start] for total in sentences.totals]
            assert any(size > limit.most for size, limit in zip(sizes, limits, strict=True))
    assert sentences.divided == sum(
        any(a < end < b for end in sentences.bounds.tolist()) for a, b in pairwise(bounds)
    )
