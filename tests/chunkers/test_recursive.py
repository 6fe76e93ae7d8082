import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from lgmgc.chunkers.recursive import division, recursive
from lgmgc.text.sizes import measure_characters, measure_words
from lgmgc.text.table import Limit, Sentences
from tests.chunkers.cutting import (
    UNITS,
    Counting,
    anything,
    check_laws,
    limits,
    prose,
    run,
    table,
    texts,
)
from tests.fake import TEXTS


def undivided(text: str, bounds: Sequence[int], limit: Limit) -> Sentences:
    """Sentences as they are, also where they exceed the limit."""
    sizes = limit.measure([text[a:b] for a, b in pairwise(bounds)])
    total = np.concatenate(([0], np.cumsum(sizes)))
    return Sentences(text, np.array(bounds), (total,), (limit,))


#       2 words  1      1    1      1        1
TEXT = "A a. " "B.\n\n" "C.\n" "D. " "E.\n\n" "F."  # fmt: skip
ENDS = [5, 9, 12, 15, 19, 21]


@pytest.mark.parametrize(
    ("theta", "ends"),
    [
        (7, [21]),
        (6, [19, 21]),
        (4, [9, 21]),  # C fits behind B, but the paragraph ends before it
        # Of two words neither E nor F is too large, but they are of two pieces.
        (2, [5, 9, 12, 19, 21]),
        (3, [9, 19, 21]),
        (1, [2, 5, 9, 12, 15, 19, 21]),
    ],
)
@pytest.mark.parametrize("break_", ["\n", "\r\n", "  \n", "\u2028"])
def test_paragraphs_lines_sentences_words(theta: int, ends: list[int], break_: str) -> None:
    text = TEXT.replace("\n", break_)
    moved = [len(TEXT[:end].replace("\n", break_)) for end in (0, *ENDS)]
    sentences = undivided(text, moved, Limit(measure_words, theta))
    expected = [len(TEXT[:end].replace("\n", break_)) for end in ends]
    assert division(sentences)(0, len(text)) == expected


@pytest.mark.parametrize(
    ("text", "unit", "theta", "chunks"),
    [
        ("", "words", 3, []),
        ("A. B. C. D. E. ", "words", 2, ["A. B. ", "C. D. ", "E. "]),
        # The long line is divided by itself; b and c wait for no rest of it.
        ("a\nx x x x x\nb\nc", "words", 2, ["a\n", "x x ", "x x ", "x\n", "b\nc"]),
        ("a xxxxx\nb", "characters", 3, ["a ", "xxx", "xx\n", "b"]),
        ("e\u0301e\u0301", "characters", 3, ["e\u0301", "e\u0301"]),
        ("天地玄黄", "words", 3, ["天地玄", "黄"]),
        # White space alone is no piece while it fits to another.
        ("a b\n\n\n\nc d", "words", 2, ["a b\n\n\n\n", "c d"]),
        ("abc\n\n\n\nd", "characters", 4, ["abc\n", "\n\n\nd"]),
        ("\n\n\na b c", "words", 2, ["\n\n\na b ", "c"]),
        ("\n\n\n\n\n", "characters", 2, ["\n\n", "\n\n", "\n"]),
    ],
)
def test_by_hand(text: str, unit: str, theta: int, chunks: list[str]) -> None:
    assert texts(text, run(recursive, text, UNITS[unit](theta))) == chunks


def test_spans_are_divided_by_themselves() -> None:
    sentences = undivided(TEXT, [0, *ENDS], Limit(measure_words, 2))
    divided = division(sentences)
    assert divided(2, 12) == [9, 12]
    assert divided(12, 15) == [15]
    assert divided(3, 3) == []


def without_blanks(pieces: Sequence[str], limit: Limit) -> list[str]:
    out: list[str] = []
    for piece in pieces:
        if out and (piece.isspace() or out[-1].isspace()) and limit.fits(out[-1] + piece):
            out[-1] += piece
        else:
            out.append(piece)
    return out


def langchain(text: str, separators: list[str], limit: Limit) -> list[str]:
    splitter = RecursiveCharacterTextSplitter(
        separators=separators,
        keep_separator="end",
        strip_whitespace=False,
        chunk_overlap=0,
        chunk_size=limit.most,
        length_function=lambda piece: int(limit.measure([piece])[0]),
    )
    return without_blanks(splitter.split_text(text), limit)


def words_and(*separators: str) -> st.SearchStrategy[str]:
    word = st.integers(1, 5).map("x".__mul__)
    # A space is drawn more often: most words are not the last of anything.
    return st.lists(
        st.tuples(word, st.sampled_from([" ", " ", " ", *separators])).map("".join), max_size=40
    ).map("".join)


any_limit = st.one_of(
    st.builds(Limit, st.just(measure_words), st.integers(2, 9)),
    st.builds(Limit, st.just(measure_characters), st.integers(8, 40)),
)


@given(words_and("\n", "\n\n"), any_limit, st.booleans())
@settings(max_examples=400, deadline=None)
def test_langchain_makes_the_same_pieces(text: str, limit: Limit, whole: bool) -> None:
    sentences = (
        undivided(text, [0, len(text)] if text else [0], limit) if whole else table(text, limit)
    )
    pieces = [text[a:b] for a, b in pairwise([0, *division(sentences)(0, len(text))])]
    assert pieces == langchain(text, ["\n\n", "\n", " ", ""], limit)


@given(words_and("\n", "\n\n", ". "), any_limit)
@settings(max_examples=400, deadline=None)
def test_langchain_makes_the_same_pieces_with_sentences(text: str, limit: Limit) -> None:
    bounds = sorted({0, *(match.end() for match in re.finditer(r"\. ", text)), len(text)})
    sentences = undivided(text, bounds, limit)
    pieces = [text[a:b] for a, b in pairwise([0, *division(sentences)(0, len(text))])]
    assert pieces == langchain(text, ["\n\n", "\n", ". ", " ", ""], limit)


@given(words_and("\n", "\n\n"), st.integers(3, 6))
@settings(max_examples=200, deadline=None)
def test_langchain_makes_the_same_pieces_of_long_words(text: str, theta: int) -> None:
    # What is left of a long word stays alone there, and is filled up here.
    assume(not re.search(rf"\w{{{theta},}} ", text))
    limit = Limit(measure_characters, theta)
    sentences = undivided(text, [0, len(text)] if text else [0], limit)
    pieces = [text[a:b] for a, b in pairwise([0, *division(sentences)(0, len(text))])]
    assert pieces == langchain(text, ["\n\n", "\n", " ", ""], limit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    check_laws(TEXTS[name], run(recursive, TEXTS[name], limit), limit)


@given(anything | prose, limits)
@settings(max_examples=300, deadline=None)
def test_laws_and_that_blank_parents_fit_to_nothing(text: str, limit: Limit) -> None:
    parents = run(recursive, text, limit)
    check_laws(text, parents, limit)
    for left, right in pairwise(parents):
        if "" in (text[left.start : left.end].strip(), text[right.start : right.end].strip()):
            assert not limit.fits(text[left.start : right.end])


@given(anything | prose, limits, st.data())
@settings(max_examples=200, deadline=None)
def test_any_span_is_tiled_within_the_limit(text: str, limit: Limit, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ends = division(table(text, limit))(start, end)
    assert ends[-1:] == [end] * (start < end)
    for a, b in pairwise([start, *ends]):
        assert a < b
        assert limit.fits(text[a:b])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "text",
    ["\n" * 20_000, "word " * 4_000, "x" * 20_000, "a\n\n" * 7_000, "Ab c. D e f.\n" * 1_500],
    ids=["newlines", "one line", "one word", "paragraphs", "sentences"],
)
def test_work_is_linear_in_text(text: str, unit: str) -> None:
    seen = []
    for part in (text[: len(text) // 4], text):
        count = Counting(UNITS[unit](50))
        sentences = table(part, count.limit)
        count.seen = 0
        division(sentences)(0, len(part))
        seen.append(count.seen / len(part))
    assert seen[1] <= 1.05 * seen[0] + 0.05
    assert seen[1] <= 8
