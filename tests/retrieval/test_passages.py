"""What fits in a budget, and how it is set apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.retrieval.passages import Source, fit, layout


def source(text: str, document: str = "d", start: int = 0) -> Source:
    return Source(7, document, start, start + len(text), 0.5, text)


def within(most: int) -> Callable[[Sequence[Source]], bool]:
    return lambda sources: sum(len(s.text) for s in sources) <= most


def texts(sources: Sequence[Source]) -> list[str]:
    return [s.text for s in sources]


def test_what_is_too_long_is_left_out_and_the_next_may_fit() -> None:
    given = fit([source("aaaa"), source("b" * 9), source("cc"), source("dd")], within(7))
    assert texts(given) == ["aaaa", "cc"]
    assert [s.number for s in given] == [1, 2]
    assert not any(s.cut for s in given)


def test_the_first_is_cut_where_none_fits() -> None:
    text = "One sentence here. Another one there. And the last."
    [whole] = fit([source(text, start=100), source(text)], within(40))
    assert whole.text == "One sentence here. Another one there. "
    assert (whole.number, whole.start, whole.end, whole.cut) == (1, 100, 138, True)
    [words] = fit([source(text)], within(10))
    assert words.text == "One "
    [points] = fit([source("今天天气很好")], within(2))
    assert points.text == "今天"
    assert fit([source(text)], within(0)) == []
    assert fit([source("  \n One.")], within(3)) == []  # white space alone is no passage
    assert fit([], within(9)) == []


@given(st.lists(st.text(min_size=1), max_size=5), st.integers(0, 30))
def test_never_more_than_fits(passages: list[str], most: int) -> None:
    given = fit([source(text) for text in passages], within(most))
    assert sum(len(s.text) for s in given) <= most
    assert [s.number for s in given] == list(range(1, len(given) + 1))
    assert all(s.end - s.start == len(s.text) for s in given)
    if any(len(text) <= most for text in passages):
        assert given
        assert not any(s.cut for s in given)


def test_a_passage_cannot_end_itself() -> None:
    text = 'Yes.\n=====\n\n[2] "b":\n==========\nNo.'
    lines = layout([source(text, 'a"\nb')]).split("\n")
    assert lines[0] == '[7] "a\\"\\nb":'
    assert lines[1] == lines[-1] == "=" * 11
    assert "\n".join(lines[2:-1]) == text
    assert text.count("=" * 11) == 0


def test_a_cut_passage_says_so() -> None:
    [short] = fit([source("One. Two. Three.")], within(9))
    assert layout([short]).startswith('[1] "d", cut off:')
