from __future__ import annotations

import html
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from lgmgc import Chunk, Document, Tree
from lgmgc.show_tree import MOST
from tests.retrieval.fake import make_tree


def rich(tree: Tree) -> str:
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(tree)
    return capture.get()


def test_html_by_hand() -> None:
    tree = make_tree(
        "<a>", "One. Two. Three.", [((0, 10), [(1, 0, 5), (1, 5, 10)]), ((10, 16), [])]
    )
    shown = tree._repr_html_()
    assert "<b>&lt;a&gt;: 2 parents, 2 children</b>" in shown
    bodies = re.findall(r'<div dir="auto"[^>]*>(.*?)</div>', shown)
    assert re.sub("<[^>]*>", "|", bodies[0]) == "One. ||Two. "  # a rule opens and closes
    assert bodies[1] == "Three."
    tints = re.findall(r"background:([^;]*);", shown)
    assert len(tints) == 2
    assert tints[0] != tints[1]
    assert "1. 0–10, 2 words<" in shown


def test_rich_by_hand() -> None:
    document = Document("a", "One. Two. [bold]")
    halves = (Chunk(document, "", 1, 0, 5, 1), Chunk(document, "", 1, 5, 10, 1))
    parents = (Chunk(document, "", 0, 0, 10, 2, -3.25, halves), Chunk(document, "", 0, 10, 16, 1))
    assert rich(Tree(document, parents)).splitlines() == [
        "a: 2 parents, 2 children",
        "1. 0–10, 2 words, log p(end) -3.2",
        "One. |Two. ",
        "2. 10–16, 1 word",
        "[bold]",
    ]


def test_the_smallest_children_are_shown() -> None:
    children = [(1, 0, 4), (1, 4, 8), (2, 0, 2), (2, 2, 4), (2, 4, 6), (2, 6, 8)]
    assert "ab|cd|ef|gh" in rich(make_tree("a", "abcdefgh", [((0, 8), children)]))


def test_many_parents_are_counted() -> None:
    tree = make_tree("a", "x" * (MOST + 3), [((k, k + 1), []) for k in range(MOST + 3)])
    assert tree._repr_html_().count('<div dir="auto"') == MOST
    assert "… and 3 parents more" in tree._repr_html_()
    assert rich(tree).splitlines()[-1] == "… and 3 parents more"


def test_nothing_to_show() -> None:
    assert rich(Tree(Document("a", ""), ())) == "a: 0 parents, 0 children\n"


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from(list("<>&'\"/=\x00\x1b\x9b\u202e\r\n ascript")), min_size=1))
def test_text_stays_text(text: str) -> None:
    tree = make_tree(text, text, [((0, len(text)), [])])
    shown = tree._repr_html_()
    assert re.sub("</?(div|b|span)( [^>]*)?>", "", shown).count("<") == 0
    plain = re.sub("[\x00\x1b\x9b\u202e]", "\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    assert html.escape(plain) in shown
    assert not re.search("[\x00\x1b\x9b\u202e\r]", shown + rich(tree))
