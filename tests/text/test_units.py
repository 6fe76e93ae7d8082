import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.text.units import units

LINES = st.sampled_from(
    ["", "  ", "word", "- item", "# Head", "====", "| a |", "```", "1. x", "\t", "\u3000", "a\x85"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\u2028"])


def cut(text: str) -> list[str]:
    return [text[a:b] for a, b in units(text)]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n \t\n", "\u3000\n"])
def test_blank_text_has_none(text: str) -> None:
    assert cut(text) == []


def test_hard_wrapped_prose_stays_together() -> None:
    text = "It was the best\nof times, it was\n  the worst of times."
    assert cut(text) == [text]


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\r\r", "\n \t \n", "\n\n\n\n", "\n\x0c\n"])
def test_a_blank_line_separates(blank: str) -> None:
    assert cut(f"one{blank}two") == ["one", "two"]


@pytest.mark.parametrize("hashes", ["#", "######"])
def test_a_heading_stands_alone(hashes: str) -> None:
    assert cut(f"above\n{hashes} Head\nbelow") == ["above", f"{hashes} Head", "below"]


@pytest.mark.parametrize("line", ["#tag", "#######", "a # b", "a | b"])
def test_what_is_no_heading_or_row_does_not_cut(line: str) -> None:
    assert cut(f"above\n{line}\nbelow") == [f"above\n{line}\nbelow"]


@pytest.mark.parametrize("item", ["- x", "* x", "+ x", "• x", "1. x", "12) x", "(3) x", "123. x"])
def test_an_item_begins_something_that_may_go_on(item: str) -> None:
    assert cut(f"above\n{item}\n  more\n{item}") == ["above", f"{item}\n  more", item]


@pytest.mark.parametrize("line", ["-x", "1984. It", "*bold* x", "3.5 x"])
def test_what_is_no_item_does_not_cut(line: str) -> None:
    assert cut(f"above\n{line}") == [f"above\n{line}"]


def test_every_table_row_stands_alone() -> None:
    assert cut("x\n| a | b |\n|---|---|\n| 1 | 2 |\ny") == [
        "x", "| a | b |", "|---|---|", "| 1 | 2 |", "y",
    ]  # fmt: skip


@pytest.mark.parametrize("rule", ["===", "-----", "* * *", "___", "- - -"])
def test_a_rule_ends_what_stands_above_it(rule: str) -> None:
    assert cut(f"Title\n{rule}\nbelow") == [f"Title\n{rule}", "below"]
    assert cut(f"{rule}\nbelow") == [rule, "below"]


def test_fences_stand_alone() -> None:
    assert cut("a\n```py\ncode\nmore\n```\n~~~\nb") == [
        "a", "```py", "code\nmore", "```", "~~~", "b",
    ]  # fmt: skip


def test_spans_are_without_the_white_space_around() -> None:
    text = "  a \r\n\r\n\t b\u00a0\n"
    assert list(units(text)) == [(2, 3), (10, 11)]


@given(st.lists(st.tuples(LINES, ENDS), max_size=12))
def test_spans_rise_and_hold_all_that_is_visible(lines: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in lines)
    spans = list(units(text))
    flat = [offset for span in spans for offset in span]
    assert flat == sorted(flat)
    inside = "".join(text[a:b] for a, b in spans)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)
