import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.text.sizes import (
    count_words,
    measure_bytes,
    measure_characters,
    measure_tokens,
    measure_words,
)

AWKWARD = st.text(alphabet=" a\n\t\u00a0。，今日アかe\u0301\u200d👨Ж“”", max_size=30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t", 0),
        ("One", 1),
        ("One  two\nthree\t", 3),
        ("non\u00a0breaking", 2),
        ("zero\u200bwidth", 1),
        ("e\u0301te\u0301", 1),
        ("今天", 2),
        ("今天。", 2),
        ("。今天", 3),  # a mark in front of all is a word by itself
        ("カタカナ", 4),
        ("ー", 1),
        ("abc今def", 3),
        ("안녕 하세요", 2),  # Korean has spaces
        ("Привет, мир!", 2),
        ("\U00020000\U00020001", 2),  # Han beyond the first plane
        ("今 。", 2),
        ("👨\u200d👩\u200d👧", 1),
    ],
)
def test_words_by_hand(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_words_are_what_stands_between_white_space(text: str) -> None:
    assert count_words(text) == len(text.split())


@given(AWKWARD, AWKWARD)
def test_a_text_is_at_most_the_sum_of_its_pieces(one: str, two: str) -> None:
    for measure in (measure_words, measure_characters, measure_bytes):
        whole, first, second = measure([one + two, one, two]).tolist()
        assert whole <= first + second


def test_measures_give_one_number_a_text() -> None:
    texts = ["", "one two", "é👨"]
    assert measure_words(texts).tolist() == [0, 2, 1]
    assert measure_characters(texts).tolist() == [0, 7, 2]
    assert measure_bytes(texts).tolist() == [0, 7, 6]
    assert measure_words([]).tolist() == []


def test_tokens_are_counted_by_the_encoder() -> None:
    measure = measure_tokens(lambda texts: [[7] * text.count("a") for text in texts])
    assert measure(["banana", "", "cat"]).tolist() == [3, 0, 1]


def test_variation_selectors_belong_to_their_character() -> None:
    assert count_words("字\ufe00") == 1
    assert count_words("葛\U000e0100飾区") == 3
