"""Perplexity chunking: cut where the text was easiest to foresee.

Source: Zhao et al., "Meta-Chunking: Learning Text Segmentation and Semantic Completion via Logical
Perception" (arXiv 2410.12788), "PPL Chunking" with its dynamic combination. The published code
keeps the keys of everything before; here each sentence is read in a window of 1,024 tokens, which
keeps time linear.
"""

from __future__ import annotations

import numpy as np

from lgmgc.chunkers.long_windows import read_once
from lgmgc.chunkers.merge import merged
from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.table import Sentences

THRESHOLD = 0.0
"""Nats a token; the published default: every minimum."""


def perplexity(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """End segments at the minima of the sentences' mean token loss, and merge them up to θ.

    Args:
        sentences: the document's; their limits are θ and a window's length in tokens.
        options: ``threshold``: how much lower than a neighbour a minimum has to be.
        document: not needed.
    """
    count = len(sentences)
    if not count:
        return Segmentation([])
    reading = yield from read_once(sentences, ("loss",))
    depth = THRESHOLD if options.threshold is None else options.threshold
    ends = {count, *(k + 1 for k in minima(reading.signals[0], depth))}
    return Segmentation(parents(sentences, merged(sentences, ends)))


def minima(losses: ScoreArray, depth: float) -> list[int]:
    """Places lower than both neighbours, and than one of them by at least ``depth``.

    Lower than the left one by ``depth`` and equal to the right one does as well.

    >>> minima(np.array([3.0, 1.0, 2.0, 1.5, 1.5, 4.0]), 0.75)
    [1]
    >>> minima(np.array([3.0, 1.0, 2.0, 1.5, 1.5, 4.0]), 0.5)
    [1, 3]
    """
    before, here, after = losses[:-2], losses[1:-1], losses[2:]
    falls, rises = before - here, after - here
    lowest = (falls > 0) & (rises > 0) & ((falls >= depth) | (rises >= depth))
    level = (falls > 0) & (rises == 0) & (falls >= depth)
    found: list[int] = (np.flatnonzero(lowest | level) + 1).tolist()
    return found
