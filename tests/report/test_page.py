from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from lgmgc.document import Chunk, Document, Heading, Tree
from lgmgc.report.page import report_page
from lgmgc.report.trace import Scores
from tests.report.pages import HOSTILE, book, cut, page, segmented

OURS = {
    "html", "head", "meta", "title", "style", "script", "body", "a", "header", "div", "h1", "bdi",
    "p", "span", "b", "button", "figure", "figcaption", "output", "svg", "path", "nav", "h2", "ol",
    "li", "main", "kbd", "i", "section", "h3", "h4", "article", "details", "summary", "footer",
}  # fmt: skip


class Parsed(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("beside", [(), ("recursive",)])
def test_a_document_makes_no_element_and_no_address(beside: tuple[str, ...]) -> None:
    document = Document("<b>&\u202e.txt", HOSTILE, headings=(Heading(0, 1, "<i>title</i>"),))
    tags = Parsed(page(document, 20, beside)).tags
    assert {tag for tag, _ in tags} <= OURS
    assert [tag for tag, _ in tags].count("script") == 1
    assert [tag for tag, _ in tags].count("style") == 1
    for tag, attributes in tags:
        assert not {"src", "style", "srcset", "action", "data"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#"), tag


def test_the_policy_allows_this_style_and_this_script_only() -> None:
    source = page(book(300))
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', source)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.replace("&#39;", "'").split(";"))
    for name in ("style", "script"):
        [inside] = re.findall(rf"<{name}>(.*?)</{name}>", source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def test_what_is_said_of_a_parent() -> None:
    text = "# One\n\nA b c d e f.\n\n# Two\n\nG h i j k l."
    headings = (Heading(0, 1, "One"), Heading(21, 1, "Two"))
    document = Document("a.md", text, pages=(0, 21), headings=headings)
    tree = Tree(document, (Chunk(document, "", 0, 0, 21, 8), Chunk(document, "", 0, 21, 41, 8)))
    scores = Scores("log p([EOS])", {21: -1.256}, True)
    source = report_page([segmented(tree)], scores, theta=8, unit="words")
    plain = " ".join(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", source, flags=re.S).split())
    assert "cut 1 log p([EOS]) −1.26" in plain
    assert "1 8 words p. 1 One # One A b c d e f." in plain
    assert "2 8 words p. 2 Two # Two G h i j k l." in plain
    assert source.count('class="cut"') == 1


def test_scores_of_cuts_only_are_said_to_be_so() -> None:
    tree, _ = cut(book(300))
    some = Scores("log p([EOS])", {tree.parents[0].end: -3.0}, False)
    said = "at the cuts only"
    assert said in report_page([segmented(tree)], some, theta=60, unit="words")
    assert said not in page(book(300))
    none = report_page([segmented(tree)], None, theta=60, unit="words")
    assert "No model scored this text" in none
    assert "log p" not in re.sub(r"<(style|script)>.*?</\1>", "", none, flags=re.DOTALL)


def test_an_empty_document() -> None:
    empty = segmented(Tree(Document("a", ""), ()))
    assert "The document is empty." in report_page([empty], None, theta=60, unit="words")
