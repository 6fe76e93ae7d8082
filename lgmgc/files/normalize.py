"""Changes to extracted text that a user may ask for; offsets are then those of the changed text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from lgmgc.document import Document, Heading

_LIGATURES = dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
# A soft hyphen at the end of a line goes with the line's end, so that the word is whole again.
_CHANGED = re.compile(r"\u00ad(?:\r\n?|\n)?|[\ufb00-\ufb06]|\r\n")
_CHANGED_ON_PAGES = re.compile(rf"\x02|{_CHANGED.pattern}")
_LEAST_PAGES = 4
_LINE_END = re.compile(r"\r\n?|\n")


def normalized(document: Document) -> Document:
    r"""Change a document's text, and move its pages and headings with it.

    - Soft hyphens (U+00AD) are taken out, with the line's end after them; and, on the pages of a
      PDF, U+0002, which is PDFium's sign for a hyphen at the end of a line.
    - The ligatures U+FB00 to U+FB06 are spelled out.
    - Lines end with ``\n`` where they ended with ``\r\n``.
    - The first and the last line of a page are taken out where they come back on more than half of
      the pages, digits left aside, of which there have to be four.

    >>> normalized(Document("a", "o\ufb03ce co\u00ad\r\noperates\r\n")).text
    'office cooperates\n'
    """
    # A line that is taken out comes before the signs in it.
    edits = sorted((*_signs(document), *_repeated(document)), key=lambda edit: (edit[0], -edit[1]))
    kept = _Text(document.text, edits)
    return Document(
        document.id,
        kept.text,
        document.metadata,
        tuple(kept.place(start) for start in document.pages),
        tuple(
            Heading(kept.place(heading.start), heading.level, _plain(heading.title))
            for heading in document.headings
        ),
    )


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Text:
    """A text after edits, which come in order; where two overlap, the first has what is common."""

    def __init__(self, text: str, edits: Sequence[_Edit]) -> None:
        self._ends = [0]  # of what was replaced, in the old text
        self._places = [0]  # the same in the new one
        parts: list[str] = []
        length = 0
        for start, end, new in edits:
            last = self._ends[-1]
            if end <= last:
                continue
            start = max(start, last)
            parts += text[last:start], new
            length += start - last + len(new)
            self._ends.append(end)
            self._places.append(length)
        self.text = "".join([*parts, text[self._ends[-1] :]])

    def place(self, old: int) -> int:
        """Where a place of the old text is in the new one."""
        k = bisect_right(self._ends, old) - 1
        return self._places[k] + old - self._ends[k]


def _signs(document: Document) -> Iterator[_Edit]:
    changed = _CHANGED_ON_PAGES if document.pages else _CHANGED
    for found in changed.finditer(document.text):
        yield _Edit(found.start(), found.end(), _plain_sign(found.group()))


def _plain(title: str) -> str:
    return _CHANGED.sub(lambda found: _plain_sign(found.group()), title)


def _plain_sign(sign: str) -> str:
    return "\n" if sign == "\r\n" else _LIGATURES.get(sign, "")


def _repeated(document: Document) -> Iterator[_Edit]:
    """The lines at the top and at the foot of pages that come back."""
    text, pages = document.text, document.pages
    if len(pages) < _LEAST_PAGES:
        return
    tops, feet = Counter[str](), Counter[str]()
    lines = []
    for start, end in pairwise((*pages, len(text))):
        own = [line for line in _lines(text, start, end) if text[line.start : line.end].strip()]
        lines.append(own)
        if own:
            tops[_key(text, own[0])] += 1
            feet[_key(text, own[-1])] += len(own) > 1
    for own in lines:
        if own and 2 * tops[_key(text, own[0])] > len(pages):
            yield _Edit(own[0].start, own[0].after, "")
        if len(own) > 1 and 2 * feet[_key(text, own[-1])] > len(pages):
            # The line end before it goes, for the one after it is what parts the pages.
            yield _Edit(own[-1].before, own[-1].end, "")


class _Line(NamedTuple):
    before: int  # the end of the line before it
    start: int
    end: int
    after: int  # the start of the line after it


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    before = start
    for found in _LINE_END.finditer(text, start, end):
        yield _Line(before, start, found.start(), found.end())
        before, start = found.span()
    yield _Line(before, start, end, end)


def _key(text: str, line: _Line) -> str:
    return re.sub(r"\d+", "", text[line.start : line.end]).strip()
