"""Stretches of text that no sentence crosses: paragraphs, headings, list items, table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ALONE = re.compile(r"#{1,6}\s|\||```|~~~")
"""A line that is a sentence of its own: Markdown heading, table row, code fence."""
_RULE = re.compile(r"(?:[-=_*]\s*){3,}$")
"""A line that ends what stands above it: thematic break, underline of a heading."""
_ITEM = re.compile(r"(?:[-*+•‣◦]|\(?\d{1,3}[.)])\s")
"""A line that begins something new which may go on below it: list item."""


def units(text: str) -> Iterator[tuple[int, int]]:
    r"""The spans, in order and without their blank surroundings, that sentences stay inside of.

    Lines of hard-wrapped prose stay together; blank lines and Markdown structure separate.

    >>> text = "# Head\nA line\nwrapped.\n- one\n  more\n- two\n\nEnd."
    >>> [text[a:b] for a, b in units(text)]
    ['# Head', 'A line\nwrapped.', '- one\n  more', '- two', 'End.']
    """
    start = end = -1  # of the open unit; start < 0: none is open
    position = 0
    for line in text.splitlines(keepends=True):
        content = line.strip()
        if content:
            first = position + len(line) - len(line.lstrip())
            last = first + len(content)
            rule = _RULE.match(content) is not None
            alone = not rule and _ALONE.match(content) is not None
            if start >= 0 and (alone or (not rule and _ITEM.match(content))):
                yield start, end
                start = -1
            start, end = (start if start >= 0 else first), last
        if start >= 0 and (not content or alone or rule):
            yield start, end
            start = -1
        position += len(line)
    if start >= 0:
        yield start, end
