from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.files.headings import headings


def told(text: str) -> list[tuple[int, int, str]]:
    return [(heading.start, heading.level, heading.title) for heading in headings(text)]


def test_both_kinds() -> None:
    text = "# One #\n\nTwo\ntoo\n===\r\n\r\n   ### Three *is* [it](x)\n####### seven\n#none\n"
    assert told(text) == [(0, 1, "One"), (9, 1, "Two too"), (24, 3, "Three is it")]


def test_titles_are_plain_text() -> None:
    for markup, title in {
        "`a*b` **c** _d_ \\*e": "a*b c d *e",
        "[What?](#what) ![alt](x.png) <b>f</b> &amp; <a@b.c>": "What? alt f & a@b.c",
        "a [b] * c": "a [b] * c",
        "[" * 100_000: "[" * 100_000,
    }.items():
        assert told(f"# {markup}") == [(0, 1, title)]
    assert told("*a\nb*\\\nc\n===") == [(0, 1, "a b c")]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# code\n```",
        "~~~\n# not closed",
        "    # indented code",
        "<div>\n# html\n</div>",
        "> # quoted",
        "- # item",
        "text\n\n---\n",
        "\\# escaped",
        "",
    ],
)
def test_what_looks_like_one(text: str) -> None:
    assert told(text) == []


def test_line_ends_of_every_system_and_what_is_no_line_end() -> None:
    assert told("a\r# b\r\n# c\n# d\x0b# e\u2028# f") == [
        (2, 1, "b"),
        (7, 1, "c"),
        (11, 1, "d # e # f"),
    ]


@given(st.text(st.sampled_from("#=-ab \t\r\n`~>\0\u2028"), max_size=80))
def test_each_begins_a_line_and_they_rise(text: str) -> None:
    found = headings(text)
    starts = [heading.start for heading in found]
    assert starts == sorted(set(starts))
    for heading in found:
        assert heading.start == 0 or text[heading.start - 1] in "\r\n"
        assert 1 <= heading.level <= 6
