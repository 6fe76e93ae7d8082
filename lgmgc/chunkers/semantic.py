"""Semantic chunking: cut where the meaning of neighbouring sentences is far apart.

Source: Greg Kamradt, "5 Levels of Text Splitting" (level 4), as in LangChain's SemanticChunker and
LlamaIndex's SemanticSplitterNodeParser, whose defaults these are. They have no largest size; the
hard maximum θ is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Breakpoint, Options
from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.lm.requests import Embedding
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Sentences

BUFFER = 1
"""Sentences on each side that are embedded together with one."""

PORTION = 256
"""Texts in one request; a long document's texts are in memory twice only that far."""

DECIMALS = 6
"""Of a distance: what shares a batch moves a vector's last bits, and must not move a cut."""

THRESHOLDS: dict[Breakpoint, float] = {"percentile": 95, "deviation": 3, "gradient": 95}


def semantic(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """End parents where the distance to the next sentence is beyond a threshold, or θ is.

    A run between two breaks that is longer than θ is cut again after the sentence with the largest
    distance in it, until all that is left fits. A parent's score is the distance at its end.

    Args:
        sentences: the document's; their first limit is θ.
        options: ``breakpoint`` and ``threshold``.
        document: not needed.

    Raises:
        UsageError: a threshold that is a percentile and not one of 0 to 100.
    """
    threshold = threshold_of(options)
    if not len(sentences):
        return Segmentation([])
    distances = yield from neighbour_distances(sentences)
    stops = [*breaks(distances, options.breakpoint, threshold), len(sentences)]
    stops = within_theta(sentences, stops, distances)
    scores = [*(float(distances[stop - 1]) for stop in stops[:-1]), None]
    return Segmentation(parents(sentences, stops, scores))


def threshold_of(options: Options) -> float:
    """The threshold asked for, or the default of its kind.

    Raises:
        UsageError: it is a percentile and not one of 0 to 100.

    >>> threshold_of(Options()), threshold_of(Options(breakpoint="deviation"))
    (95, 3)
    """
    if options.threshold is None:
        return THRESHOLDS[options.breakpoint]
    if options.breakpoint != "deviation" and not 0 <= options.threshold <= 100:
        raise UsageError(
            f"threshold is {options.threshold}; with breakpoint {options.breakpoint} it is a "
            "percentile, from 0 to 100"
        )
    return options.threshold


def neighbour_distances(
    sentences: Sentences,
) -> Generator[list[Embedding], Sequence[Any], ScoreArray]:
    """How far each sentence is from the next: 1 − the cosine of the groups around them.

    A group is a sentence with `BUFFER` neighbours on each side. One of white space alone means
    nothing and is not embedded: it is where the group before it is.

    Returns:
        Shape (sentences − 1,), from 0 to 2; 0 where the vectors are not finite.
    """
    count = len(sentences)
    distances = np.zeros(count - 1)
    last: list[ScoreArray] = []
    for start in range(0, count if count > 1 else 0, PORTION):
        stop = min(count, start + PORTION)
        groups = {k: text for k in range(start, stop) if (text := _group(sentences, k))}
        if not groups:
            continue
        [rows] = yield [Embedding(start, stop, tuple(groups.values()))]
        vectors = np.array([*last, *rows], np.float64)
        # Each group but the document's first is a step from the one before it.
        places = np.array(list(groups), np.int64)[1 - len(last) :]
        distances[places - 1] = 1 - (vectors[:-1] * vectors[1:]).sum(1)
        last = [vectors[-1]]
    finite = np.where(np.isfinite(distances), distances, 0)
    return np.round(np.clip(finite, 0, 2), DECIMALS)


def breaks(distances: ScoreArray, kind: Breakpoint, threshold: float) -> list[int]:
    """The sentences to begin with anew.

    Args:
        distances: shape (sentences − 1,).
        kind: ``percentile``: where the distance is over that percentile of all; ``deviation``:
            where it is over their mean by so many standard deviations; ``gradient``: where the
            gradient of the distances is over that percentile of all gradients.
        threshold: a percentile, or a number of deviations.

    Returns:
        Rising; one past the last sentence before each break.

    >>> breaks(np.array([0.1, 0.1, 0.9, 0.1]), "percentile", 95)
    [3]
    """
    if len(distances) < 2:  # the only distance is no further than itself
        return []
    values = np.gradient(distances) if kind == "gradient" else distances
    if kind == "deviation":
        limit = values.mean() + threshold * values.std()
    else:
        limit = np.percentile(values, threshold)
    # The mean of equal numbers may be a last bit below them.
    beyond: list[int] = (np.flatnonzero(values > limit + 1e-12) + 1).tolist()
    return beyond


def within_theta(sentences: Sentences, stops: Sequence[int], distances: ScoreArray) -> list[int]:
    """Cut runs longer than θ after their largest distance, again and again, until all fit (law 2).

    Of equal distances the middle one is taken, so that text which repeats itself is halved. Takes
    n log n time for a run of n sentences.

    Args:
        sentences: the document's; their first limit is θ.
        stops: rising; one past the last sentence of each run.
        distances: shape (sentences − 1,).

    Returns:
        ``stops`` with those added.
    """
    total, most = sentences.totals[0], sentences.limits[0].most
    made: list[int] = []
    for first, end in pairwise([0, *stops]):
        waiting = [(first, end)]
        highest = None
        while waiting:
            start, stop = waiting.pop()
            small = total[stop] - total[start] <= most and sentences.within(start, stop)
            if small or stop == start + 1:
                made.append(stop)
                continue
            highest = highest or highest_of(distances[first : end - 1])
            middle = first + highest(start - first, stop - 1 - first) + 1
            waiting += [(middle, stop), (start, middle)]
    return made


def highest_of(values: ScoreArray) -> Callable[[int, int], int]:
    """A function that gives the place of the largest of ``values[start:stop]``, in log time.

    Of equals, the middle one. It stands on the largest values of all stretches of 1, 2, 4, 8 …:
    any stretch is two of these that overlap.

    >>> highest_of(np.array([3.0, 1.0, 3.0, 1.0, 3.0]))(0, 5)
    2
    """
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int32)
    order = np.argsort(ranks, kind="stable")  # the places of each rank, rising
    firsts = np.searchsorted(ranks[order], np.arange(len(ranks) + 1))
    levels = [ranks]
    while 1 << len(levels) <= len(ranks):
        half = 1 << (len(levels) - 1)
        levels.append(np.maximum(levels[-1][:-half], levels[-1][half:]))

    def highest(start: int, stop: int) -> int:
        level = (stop - start).bit_length() - 1
        rank = max(levels[level][start], levels[level][stop - (1 << level)])
        equals: IntArray = order[firsts[rank] : firsts[rank + 1]]
        low, high = np.searchsorted(equals, (start, stop))
        return int(equals[(low + high) // 2])

    return highest


def _group(sentences: Sentences, k: int) -> str:
    before, after = max(0, k - BUFFER), min(len(sentences), k + BUFFER + 1)
    return sentences.text[sentences.bounds[before] : sentences.bounds[after]].strip()
