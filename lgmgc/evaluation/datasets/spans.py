"""Pieces of a text, and where they stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from lgmgc.evaluation.benchmark import Span


def joined(pieces: Sequence[str], between: str) -> tuple[str, tuple[int, ...]]:
    r"""Pieces as one text, and where each ends.

    What is put between two pieces belongs to the first of them, as white space belongs to the
    sentence before it.

    >>> joined(["One.", "Two."], "\n\n")
    ('One.\n\nTwo.', (6, 10))
    """
    text = between.join(pieces)
    ends = accumulate(len(piece) + len(between) for piece in pieces)
    return text, tuple(min(end, len(text)) for end in ends)


def tiling(ends: Iterable[int], length: int) -> tuple[Span, ...]:
    """The spans that a text of ``length`` code points is cut into after ``ends``.

    >>> tiling([6, 3, 6, 0], 10)
    ((0, 3), (3, 6), (6, 10))
    >>> tiling([], 0)
    ()
    """
    return tuple(pairwise(sorted({0, *ends, length})))


def occurs_once(text: str, part: str) -> Span | None:
    """Where a part stands in a text, if it does so at one place only; else None.

    A part that stands at several places may be meant at any of them, so none is chosen. Places
    that overlap are several.

    >>> occurs_once("so it goes", "it"), occurs_once("aaa", "aa"), occurs_once("a", "b")
    ((3, 5), None, None)
    """
    start = text.find(part)
    if start < 0 or text.find(part, start + 1) >= 0:
        return None
    return start, start + len(part)
