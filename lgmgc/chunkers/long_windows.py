"""A document read once, in long windows that overlap a little."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lgmgc.lm.requests import Signal, Window
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Sentences

LENGTH = 1024
"""Tokens of a window. In longer ones attention, which grows with the square, outweighs what is
saved on the overlap (on the CPU, with a small model; on a GPU it matters little)."""
OVERLAP = 96
"""Tokens of a window that were in the one before: what its first new sentence is read after."""
AT_ONCE = 64
"""Windows asked for together: several batches, so that few places are lost at their ends."""


class Reading(NamedTuple):
    """Signals of all sentences.

    Attributes:
        signals: shape (signals, sentences).
        places: shape (sentences,): each sentence's place in the window it was read in, from 0.
    """

    signals: ScoreArray
    places: IntArray


def read_once(
    sentences: Sentences, signals: tuple[Signal, ...]
) -> Generator[list[Window], Sequence[Any], Reading]:
    """Read every sentence, in 1 / (1 − OVERLAP / LENGTH) tokens a token of the document.

    A sentence in two windows is taken from the earlier, where more of the text stands before it.

    Args:
        sentences: the document's; their last limit is a window's length in tokens.
        signals: what to read.
    """
    values = np.full((len(signals), len(sentences)), np.nan)
    places = np.zeros(len(sentences), np.int64)
    spans = list(_spans(sentences))
    for at in range(0, len(spans), AT_ONCE):
        some = spans[at : at + AT_ONCE]
        answers = yield [Window(start, stop, signals) for start, _, stop in some]
        for (start, new, stop), answer in zip(some, answers, strict=True):
            values[:, new:stop] = answer[:, new - start :]
            places[new:stop] = np.arange(new - start, stop - start)
    return Reading(values, places)


def _spans(sentences: Sentences) -> Iterator[tuple[int, int, int]]:
    """First sentence, first new one, and one past the last, of each window."""
    total = sentences.totals[-1]
    new = 0
    while new < len(sentences):
        start = int(np.searchsorted(total, total[new] - OVERLAP)) if new else 0
        stop = sentences.reach(start)
        if stop <= new:  # the next sentence is too long to stand beside what was before
            start, stop = new, sentences.reach(new)
        yield start, new, stop
        new = stop
