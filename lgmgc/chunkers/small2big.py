"""Small-to-big: small pieces to find, each with the larger window around it to read.

Source: LlamaIndex's SentenceWindowNodeParser and "small-to-big retrieval". There the window is a
number of sentences; here it is what θ holds.
"""

from __future__ import annotations

from itertools import pairwise

from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.sentence_packing import packed
from lgmgc.document import Document
from lgmgc.text.table import Limit, Sentences, tabulate

PART = 4
"""What θ is divided by for a piece."""


def small2big(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Pack whole sentences into pieces of at most θ/4, each with a window of at most θ around it.

    Args:
        sentences: the document's; their first limit is θ.
        options: none is read.
        document: not needed.
    """
    text, limit = sentences.text, sentences.limits[0]
    small = Limit(limit.measure, max(1, limit.most // PART), limit.additive)
    inner = tabulate(text, sentences.bounds.tolist(), [small])
    bounds = [0, *inner.bounds[packed(inner)].tolist()]
    pieces = tabulate(text, bounds, [limit])
    spans = zip(pairwise(bounds), (window(pieces, k) for k in range(len(pieces))), strict=True)
    return Segmentation(
        [Parent(*span, window=(bounds[first], bounds[stop])) for span, (first, stop) in spans]
    )
    yield  # a generator like the others


def window(pieces: Sentences, k: int) -> tuple[int, int]:
    """Whole pieces around piece ``k``: the next one after, the next before, while θ holds them.

    Where one side ends, or its next piece is too large, the other goes on alone.

    Args:
        pieces: with θ as their limit.
        k: the piece in the middle.

    Returns:
        The first piece, and one past the last.
    """
    total, most = pieces.totals[0], pieces.limits[0].most
    first, stop = k, k + 1
    grown = [(first, stop)]
    sides = [True, False]  # after, before
    while sides:
        after = sides.pop(0)
        wider = (first, stop + 1) if after else (first - 1, stop)
        inside = wider[0] >= 0 and wider[1] <= len(pieces)
        if inside and total[wider[1]] - total[wider[0]] <= most:
            first, stop = wider
            grown.append(wider)
            sides.append(after)
    while not pieces.within(first, stop):
        grown.pop()
        first, stop = grown[-1]
    return first, stop
