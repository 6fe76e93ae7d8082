"""Where the lines and the paragraphs of a text end."""

from __future__ import annotations

import numpy as np

from lgmgc.text.sizes import IntArray


def line_ends(text: str) -> IntArray:
    r"""One past each line break of any kind, and the text's end; empty for the empty text.

    >>> line_ends("a\n\r\nb").tolist()
    [2, 4, 5]
    """
    return _ends(text.splitlines(keepends=True))


def paragraph_ends(text: str) -> IntArray:
    r"""One past the last of each run of blank lines, and the text's end; empty for the empty text.

    Lines of white space only are blank. Those at the text's beginning belong to the first
    paragraph.

    >>> paragraph_ends("\n\na\n \n\nb\nc").tolist()
    [7, 10]
    """
    lines = text.splitlines(keepends=True)
    blank = np.fromiter(map(str.isspace, lines), bool, len(lines))
    closing = blank.copy()
    closing[:-1] &= ~blank[1:]
    closing &= np.logical_or.accumulate(~blank)  # something stands above
    closing[-1:] = True
    ends: IntArray = _ends(lines)[closing]
    return ends


def _ends(lines: list[str]) -> IntArray:
    ends: IntArray = np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)))
    return ends
