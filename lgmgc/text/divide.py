"""Dividing a sentence that is longer than a limit."""

from __future__ import annotations

from collections.abc import Callable

import regex

_GRAPHEME = regex.compile(r"\X")
_LAST_SPACE = regex.compile(r"(?r)\s")
_FIRST_GUESS = 512  # characters


def divide(text: str, start: int, end: int, fits: Callable[[str], bool]) -> list[int]:
    r"""Cut ``text[start:end]`` into the longest pieces that fit, front to back.

    Each cut is after the last line break of what fits, else after the last white space, else
    between the last two graphemes. A single grapheme that does not fit is cut between code points;
    a single code point is never cut, so the limit holds only where one code point fits.

    Args:
        text: the document's text.
        start: the first code point to divide.
        end: one past the last.
        fits: whether a text is within the limit; if a text fits, so must its beginnings.

    Returns:
        The rising ends of the pieces; the last is ``end``.

    >>> divide("aa bb\ncc dd", 0, 11, lambda piece: len(piece) <= 4)
    [3, 6, 9, 11]
    """
    ends = []
    while start < end:
        stop = _longest(text, start, end, fits)
        if stop < end:
            stop = _break(text, start, stop)
        ends.append(stop)
        start = stop
    return ends


def _longest(text: str, start: int, end: int, fits: Callable[[str], bool]) -> int:
    """The largest stop such that ``text[start:stop]`` fits, at least ``start + 1``."""
    low, high = start + 1, min(end, start + _FIRST_GUESS)
    while fits(text[start:high]):
        if high == end:
            return end
        low, high = high, min(end, start + 2 * (high - start))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(text[start:middle]) else (low, middle)
    return low


def _break(text: str, start: int, stop: int) -> int:
    within = stop - (text[stop - 1 : stop + 1] == "\r\n")  # between the two there is no break
    line = max(text.rfind("\n", start, within), text.rfind("\r", start, within))
    if line >= 0:
        return line + 1
    space = _LAST_SPACE.search(text, start, within)
    if space:
        return int(space.end())
    # One code point more than fits, so that a boundary exactly at `stop` is seen as one.
    ends = [match.end() for match in _GRAPHEME.finditer(text, start, stop + 1)]
    return next((end for end in reversed(ends) if end <= stop), stop)
