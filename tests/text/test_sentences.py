from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.errors import UsageError
from lgmgc.text.sentences import check_language, split

PIECES = st.sampled_from(
    [
        *("A word. ", "Dr. Who? ", "x", "! ", "...", '"', "»", " ", "3.14 ", "\x00"),
        *("\n", "\r\n", "\n\n", "\t", "\u00a0", "\ufeff", "\u200b", "\u2028", "\x85"),
        *("- a: b\n", "# H\n", "| r |\n", "---\n", "e\u0301", "👨\u200d👩\u200d👧"),
        *("今天。", "こんにちは。", "שלום. ", "مرحبا؟ ", "Привет. ", "สวัสดี ", "नमस्ते। "),
    ]
)


def cut(text: str, language: str = "auto") -> list[str]:
    return [text[a:b] for a, b in pairwise(split(text, language))]


def test_empty_text_has_no_sentence() -> None:
    assert split("") == [0]


@pytest.mark.parametrize("text", [" ", "\n\n", "\r\n\t", "\u3000"])
def test_blank_text_is_one_sentence(text: str) -> None:
    assert cut(text) == [text]


def test_white_space_belongs_to_the_sentence_before() -> None:
    assert cut(" \n Lead. Next.  \n\n\nLast.\n") == [" \n Lead. ", "Next.  \n\n\n", "Last.\n"]


def test_abbreviations_do_not_end_a_sentence() -> None:
    assert cut("He met Dr. Smith at 5 p.m. on Mr. Hart's farm. They paid $3.50 each. Good.") == [
        "He met Dr. Smith at 5 p.m. on Mr. Hart's farm. ",
        "They paid $3.50 each. ",
        "Good.",
    ]


def test_hard_wrapped_prose_is_not_cut_at_line_ends() -> None:
    text = "The sea was calm and the\nship lay still. Nobody\nspoke until the\nmorning came."
    assert cut(text) == [
        "The sea was calm and the\nship lay still. ",
        "Nobody\nspoke until the\nmorning came.",
    ]


def test_crlf_is_kept_whole() -> None:
    assert cut("One ran. Two\r\nran.\r\n\r\nThree ran.\r\n") == [
        "One ran. ",
        "Two\r\nran.\r\n\r\n",
        "Three ran.\r\n",
    ]


def test_markdown_structure_ends_sentences() -> None:
    text = "# Title\nBody text\n- one\n- two\n| a | b |\n| c | d |\nUnder\n=====\nEnd"
    assert cut(text) == [
        "# Title\n", "Body text\n", "- one\n", "- two\n", "| a | b |\n", "| c | d |\n",
        "Under\n=====\n", "End",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("今天天气很好。我们去公园。再见！", ["今天天气很好。", "我们去公园。", "再见！"]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("Привет. Как дела? Хорошо.", ["Привет. ", "Как дела? ", "Хорошо."]),
        ("مرحبا. كيف حالك؟ بخير.", ["مرحبا. ", "كيف حالك؟ ", "بخير."]),
        ("नमस्ते। आप कैसे हैं?", ["नमस्ते। ", "आप कैसे हैं?"]),
        ("안녕하세요. 반갑습니다.", ["안녕하세요. ", "반갑습니다."]),
    ],
)
def test_auto_tells_the_language_by_its_script(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_auto_tells_every_paragraph_by_itself() -> None:
    text = "He met Dr. Smith. They met.\n\n今天很好。再见。\n\nThe end. Really."
    assert cut(text) == [
        "He met Dr. Smith. ", "They met.\n\n", "今天很好。", "再见。\n\n", "The end. ", "Really.",
    ]  # fmt: skip


def test_german_by_sentencex() -> None:
    text = "Das gilt z. B. für Äpfel. Sie sind süß."
    assert cut(text, "de") == ["Das gilt z. B. für Äpfel. ", "Sie sind süß."]


def test_the_language_given_is_used() -> None:
    # nupunkt alone knows no Hindi danda.
    text = "नमस्ते। आप कैसे हैं?"
    assert len(cut(text, "hi")) == 2
    assert len(cut(text, "en")) == 1


@pytest.mark.parametrize("code", ["english", "EN", "", "e", "en-GB", "d1"])
def test_what_is_no_language_code_is_refused(code: str) -> None:
    with pytest.raises(UsageError, match="is not a code such as"):
        check_language(code)
    with pytest.raises(UsageError):
        split("", code)


@pytest.mark.parametrize("language", ["auto", "en", "de", "zh"])
@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(PIECES, max_size=14))
def test_sentences_tile_and_begin_with_something_visible(language: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    bounds = split(text, language)
    assert bounds[0] == 0
    assert bounds[-1] == len(text)
    assert all(a < b for a, b in pairwise(bounds))
    # But for the first, none begins with white space or is blank.
    assert not any(text[start].isspace() for start in bounds[1:-1])
