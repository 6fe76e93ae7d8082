"""The headings of Markdown."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from lgmgc.document import Heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_LINE_END = re.compile(r"\r\n?|\n")
_MARKUP = re.compile(r"[\\`*_\[<&]")
_BREAKS = ("softbreak", "hardbreak")
_LONG = 500  # characters


def headings(text: str) -> tuple[Heading, ...]:
    r"""Find the ATX and setext headings of Markdown, as CommonMark has them.

    Those inside code, HTML, lists and quotations are none of the document's own. Titles are plain
    text. Time is linear in the text, also where it is made to be awkward.

    >>> headings("# *One*\n\n```\n# code\n```\nTwo\r\n---\r\n")
    (Heading(start=0, level=1, title='One'), Heading(start=24, level=2, title='Two'))
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    inline = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])  # what is within a line tells nothing
    tokens = parser.parse(text)
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    found = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            title = " ".join(_plain(content.content, inline).split())
            found.append(Heading(starts[opening.map[0]], int(opening.tag[1:]), title))
    return tuple(found)


def _plain(title: str, inline: MarkdownIt) -> str:
    """Take the markup out of a title, unless it is longer than any title is."""
    if len(title) > _LONG or not _MARKUP.search(title):
        return title
    [whole] = inline.parseInline(title)
    return "".join(
        "\n" if token.type in _BREAKS else token.content if token.type != "html_inline" else ""
        for token in whole.children or ()
    )
