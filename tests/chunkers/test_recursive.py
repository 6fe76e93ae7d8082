import pytest

from lgmgc.chunkers.method import Cut
from lgmgc.chunkers.recursive import recursive
from lgmgc.text.sizes import measure_words
from lgmgc.text.table import Limit, tabulate


def cut(sentences: list[str], theta: int) -> list[int]:
    bounds = [0]
    for sentence in sentences:
        bounds.append(bounds[-1] + len(sentence))
    method = recursive(tabulate("".join(sentences), bounds, [Limit(measure_words, theta)]))
    with pytest.raises(StopIteration) as end:
        next(method)
    cuts: list[Cut] = end.value.value
    assert all(score is None for _, score in cuts)
    return [stop for stop, _ in cuts]


#              2 words   1          1       1      1          1
SENTENCES = ["a a. ", "b.\n\n", "c.\n", "d. ", "e.\n\n", "f."]


@pytest.mark.parametrize(
    ("theta", "stops"),
    [
        (7, [6]),
        (6, [5, 6]),
        (4, [2, 6]),  # c fits behind b, but the paragraph ends before it
        (3, [2, 5, 6]),
        (2, [1, 2, 3, 5, 6]),  # the first paragraph has only a sentence's end, the second a line's
    ],
)
def test_paragraphs_then_lines_then_sentences(theta: int, stops: list[int]) -> None:
    assert cut(SENTENCES, theta) == stops
    assert cut([sentence.replace("\n", "\r\n") for sentence in SENTENCES], theta) == stops
    assert cut([sentence.replace("\n", "  \n") for sentence in SENTENCES], theta) == stops


def test_empty_text_has_no_cuts() -> None:
    assert cut([], 3) == []


def test_without_breaks_sentences_are_merged() -> None:
    assert cut(["a. ", "b. ", "c. ", "d. ", "e. "], 2) == [2, 4, 5]


def test_a_sentence_over_the_limit_was_divided() -> None:
    assert cut(["a b c d e. ", "f."], 2) == [1, 2, 4]
