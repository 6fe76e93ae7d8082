"""MG, the multi-granular rule: a parent divided again into pieces of at most θ/2 and θ/4.

Source: Liu, Simon, Caspani, "Passage Segmentation of Documents for Extractive Question Answering"
(arXiv 2501.09940, ECIR 2025).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Limit, tabulate


def pieces(text: str, bounds: IntArray, limit: Limit) -> list[tuple[int, int]]:
    """Whole sentences packed into the fewest pieces within a limit, as even as they can be.

    Args:
        text: the document's text.
        bounds: the offsets of a parent's sentences, with its end.
        limit: what a piece must keep; a sentence that exceeds it is divided (law 2).

    Returns:
        Spans that tile the parent (law 1).
    """
    sentences = tabulate(text, bounds.tolist(), [limit])
    stops = pack(sentences.totals[0], limit.most)
    if not all(sentences.within(start, stop) for start, stop in pairwise([0, *stops])):
        stops = []
        while (start := stops[-1] if stops else 0) < len(sentences):
            stops.append(sentences.fit(start))
    ends = [int(sentences.bounds[stop]) for stop in stops]
    return list(zip([int(bounds[0]), *ends[:-1]], ends, strict=True))


def pack(total: IntArray, most: int) -> list[int]:
    """Cut a run of items into the fewest runs of at most ``most``, the largest as small as can be.

    Args:
        total: shape (n + 1,), the running total of the items' sizes; no item exceeds ``most``.
        most: the limit of a run.

    Returns:
        One past the last item of each run.

    >>> pack(np.array([0, 4, 5, 6, 7, 8]), 7)  # front to back 4+1+1+1 | 1 is also two runs
    [1, 5]
    """
    few = len(_greedy(total, most))
    low, high = int(np.diff(total).max(initial=0)), most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(_greedy(total, middle)) <= few else (middle + 1, high)
    return _greedy(total, low)


def _greedy(total: IntArray, most: int) -> list[int]:
    stops = [0]
    while stops[-1] < len(total) - 1:
        reach = int(np.searchsorted(total, total[stops[-1]] + most, side="right")) - 1
        # Items of size 0 (white space) at the front of a run may find no place of their own.
        stops.append(max(stops[-1] + 1, reach))
    return stops[1:]
