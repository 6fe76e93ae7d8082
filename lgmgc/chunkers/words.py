"""Where the words and the graphemes of a text end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import regex

from lgmgc.text.sizes import WORD, IntArray

_GRAPHEME = regex.compile(r"\X")


def word_bounds(text: str) -> IntArray:
    """Where words begin, and the text's end; white space belongs to the word before it.

    Words are those of `lgmgc.text.sizes.count_words`: any n of them that follow one another count
    n. White space at the text's beginning goes with the first one.

    Returns:
        Shape (words + 1,); ``[0]`` for the empty text. A blank text is one word here.

    >>> word_bounds(" Two  words, 天气。").tolist()
    [0, 6, 13, 14, 16]
    """
    if not text:
        return np.zeros(1, np.int64)
    starts = np.fromiter((match.start() for match in WORD.finditer(text)), np.int64)
    return np.concatenate(([0], starts[1:], [len(text)]))


def grapheme_ends(text: str, start: int, stop: int) -> Sequence[int]:
    r"""The ends of the graphemes of ``text[start:]`` up to, with, ``stop``.

    Args:
        text: the document's text.
        start: where a grapheme begins.
        stop: at most the text's end.

    >>> list(grapheme_ends("ae\u0301\r\nx", 0, 4)), list(grapheme_ends("abc", 1, 3))
    ([1, 3], [2, 3])
    """
    seen = text[start : stop + 1]  # one more, so that an end exactly at `stop` is seen as one
    if seen.isascii() and "\r\n" not in seen:
        return range(start + 1, stop + 1)
    ends = [match.end() for match in _GRAPHEME.finditer(text, start, stop + 1)]
    return ends if not ends or ends[-1] <= stop else ends[:-1]


def grapheme_end(text: str, start: int, stop: int) -> int:
    """The end of the grapheme that begins at ``start``, or ``stop`` if it goes on behind that."""
    match = _GRAPHEME.match(text, start, stop)
    return match.end() if match else stop
