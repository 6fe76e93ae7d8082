"""A tree to look at: HTML for notebooks, styled text for terminals."""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from lgmgc.document import Chunk, Tree

if TYPE_CHECKING:
    from rich.text import Text

MOST = 40
"""Parents shown; a notebook that holds a whole book is slow to open."""

# Translucent, so that they suit light and dark themes; and colours that every terminal has.
_TINTS = ("rgba(64,128,255,.13)", "rgba(255,160,32,.13)")
_STYLES = ("cyan", "yellow")

# What steers a terminal, turns the direction of what stands beside it, or is no character in HTML.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def as_html(tree: Tree) -> str:
    """Parents in alternating tint, each with a line above it; a rule stands between children.

    Everything from the document is escaped, so that markup in it stays text.

    Args:
        tree: of any size; parents beyond `MOST` are counted, not shown.
    """
    parts = [f"<div><b>{escape(_shown(_title(tree)))}</b></div>"]
    for number, parent in enumerate(tree.parents[:MOST]):
        rule = '<span style="border-left:2px solid;opacity:.4;margin:0 1px"></span>'
        body = rule.join(escape(_shown(text)) for text in _pieces(parent))
        parts.append(
            f'<div style="background:{_TINTS[number % 2]};padding:2px 6px">'
            f'<div style="opacity:.6;font-size:smaller">{escape(_heading(number, parent))}</div>'
            f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere">{body}</div>'
            "</div>"
        )
    if len(tree.parents) > MOST:
        parts.append(f"<div>{_rest(tree)}</div>")
    return "\n".join(parts)


def as_rich(tree: Tree) -> Text:
    """The same for `rich.print`: parents in alternating colour, ``|`` between children.

    What could steer the terminal is replaced.

    Args:
        tree: of any size; parents beyond `MOST` are counted, not shown.
    """
    from rich.text import Text

    shown = Text.assemble((_shown(_title(tree)), "bold"))
    for number, parent in enumerate(tree.parents[:MOST]):
        style = _STYLES[number % 2]
        shown.append(f"\n{_heading(number, parent)}\n", f"dim {style}")
        for k, piece in enumerate(_pieces(parent)):
            shown.append("|" if k else "", "dim")
            shown.append(_shown(piece), style)
    if len(tree.parents) > MOST:
        shown.append(f"\n{_rest(tree)}")
    return shown


def _title(tree: Tree) -> str:
    children = sum(len(parent.children) for parent in tree.parents)
    return f"{tree.document.id}: {len(tree.parents):,} parents, {children:,} children"


def _heading(number: int, parent: Chunk) -> str:
    score = "" if parent.score is None else f", log p(end) {parent.score:.1f}"
    words = f"{parent.words:,} word{'s' * (parent.words != 1)}"
    return f"{number + 1}. {parent.start}–{parent.end}, {words}{score}"


def _rest(tree: Tree) -> str:
    return f"… and {len(tree.parents) - MOST:,} parents more"


def _pieces(parent: Chunk) -> list[str]:
    """A parent's text, cut where its smallest children begin."""
    level = max((child.level for child in parent.children), default=0)
    starts = {child.start for child in parent.children if child.level == level}
    cuts = [*sorted({parent.start, *starts}), parent.end]
    text = parent.document.text
    return [text[start:end] for start, end in pairwise(cuts)]


def _shown(text: str) -> str:
    r"""Text with plain line ends, and U+FFFD for what is not to be shown.

    >>> _shown("one\r\ntwo \x1b[2J")
    'one\ntwo \ufffd[2J'
    """
    return _STEERING.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
