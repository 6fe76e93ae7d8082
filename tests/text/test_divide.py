from collections.abc import Callable
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.text.divide import divide
from lgmgc.text.sizes import count_words

FAMILY = "👨\u200d👩\u200d👧"  # five code points, one grapheme


def within(most: int, size: Callable[[str], int] = len) -> Callable[[str], bool]:
    return lambda text: size(text) <= most


def cut(text: str, most: int, size: Callable[[str], int] = len) -> list[str]:
    ends = divide(text, 0, len(text), within(most, size))
    return [text[a:b] for a, b in pairwise([0, *ends])]


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("aa bb", 5, ["aa bb"]),
        ("aa bb cc", 4, ["aa ", "bb ", "cc"]),
        ("a b\ncc dd", 6, ["a b\n", "cc dd"]),  # a line break before a later space
        ("a\nb\nccc", 5, ["a\nb\n", "ccc"]),  # the last of two
        ("ab\rcd ef", 6, ["ab\r", "cd ef"]),
        ("ab\u00a0cd", 4, ["ab\u00a0", "cd"]),
        ("ab\u3000cd", 4, ["ab\u3000", "cd"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("abc\r\nde", 4, ["abc", "\r\nde"]),
        ("a b\r\nc", 4, ["a ", "b\r\nc"]),
        ("a\rb\r\nc", 4, ["a\r", "b\r\nc"]),
        ("e\u0301e\u0301e\u0301", 3, ["e\u0301", "e\u0301", "e\u0301"]),
        ("e\u0301e\u0301e\u0301", 4, ["e\u0301e\u0301", "e\u0301"]),
        (f"ab{FAMILY}cd", 6, ["ab", f"{FAMILY}c", "d"]),
        (f"ab{FAMILY}cd", 7, [f"ab{FAMILY}", "cd"]),
        ("🇩🇪🇫🇷", 3, ["🇩🇪", "🇫🇷"]),
        (FAMILY, 3, ["👨\u200d👩", "\u200d👧"]),  # one grapheme over the limit: between code points
        ("e" + "\u0301" * 5, 4, ["e" + "\u0301" * 3, "\u0301" * 2]),
        ("\r\n", 1, ["\r", "\n"]),
        ("ab", 1, ["a", "b"]),
    ],
)
def test_by_hand(text: str, most: int, pieces: list[str]) -> None:
    assert cut(text, most) == pieces


def test_a_span_inside_a_text() -> None:
    assert divide("xx aa bb yy", 3, 9, within(4)) == [6, 9]


def test_an_empty_span_has_no_pieces() -> None:
    assert divide("abc", 1, 1, within(1)) == []


def test_a_code_point_is_never_cut() -> None:
    assert cut("今日", 1, lambda text: len(text.encode())) == ["今", "日"]


def test_words_are_divided_by_their_own_measure() -> None:
    assert cut("one two three four five", 2, count_words) == ["one two ", "three four ", "five"]


@pytest.mark.parametrize("most", [10, 300, 5_000])
def test_a_word_of_200_000_characters_takes_a_linear_number_of_measures(most: int) -> None:
    def cost(length: int) -> tuple[int, int]:
        measured: list[int] = []

        def fits(text: str) -> bool:
            measured.append(len(text))
            return len(text) <= most

        ends = divide("x" * length, 0, length, fits)
        assert ends == [*range(most, length, most), length]
        return len(measured), sum(measured)

    (calls, characters), (calls_2, characters_2) = cost(100_000), cost(200_000)
    assert calls_2 <= 2 * calls + 100  # what the end of a text may differ by
    assert characters_2 <= 2.02 * characters + 100 * most
    # Bisection from the first guess of 512 or by doubling: some ten to thirty calls a piece.
    assert calls_2 <= 30 * 200_000 / most


TOKENS = st.sampled_from(["a", "bc ", "e\u0301", FAMILY, "\r\n", "\n", "\r", "🇩🇪", "今", " ", "각"])


@settings(max_examples=200, deadline=None)
@given(st.lists(TOKENS, max_size=30), st.integers(5, 12))
def test_pieces_tile_fit_and_keep_graphemes_whole(tokens: list[str], most: int) -> None:
    text = "".join(tokens)
    ends = divide(text, 0, len(text), within(most))
    pieces = [text[a:b] for a, b in pairwise([0, *ends])]
    assert "".join(pieces) == text
    assert all(1 <= len(piece) <= most for piece in pieces)
    boundaries = {match.end() for match in regex.finditer(r"\X", text)}
    assert set(ends) <= boundaries  # no grapheme here exceeds five code points


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.integers(4, 12))
def test_pieces_of_any_text_fit_in_bytes(text: str, most: int) -> None:
    pieces = cut(text, most, lambda piece: len(piece.encode("utf-8", "surrogatepass")))
    assert "".join(pieces) == text
    assert all(len(piece.encode("utf-8", "surrogatepass")) <= most for piece in pieces)
