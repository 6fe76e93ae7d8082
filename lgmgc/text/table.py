"""A document's sentences with their sizes, made so that no sentence exceeds a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lgmgc.text.divide import divide
from lgmgc.text.sizes import IntArray, Measure


@dataclass(frozen=True, slots=True)
class Limit:
    """At most ``most`` by ``measure``.

    Attributes:
        measure: texts to sizes.
        most: the limit.
        additive: whether a text is never larger than the sum of its pieces. Tokens are not: a
            tokenizer may make fewer of two pieces than of the whole.
    """

    measure: Measure
    most: int
    additive: bool = True

    def fits(self, text: str) -> bool:
        """Whether one text is within the limit."""
        return bool(self.measure([text])[0] <= self.most)


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences that tile a text, and how many of them fit where.

    Attributes:
        text: the document's text.
        bounds: shape (n + 1,), code points; sentence k is ``text[bounds[k]:bounds[k + 1]]``.
        totals: one array of shape (n + 1,) for each limit: the running total of sizes.
        limits: shape as ``totals``; every sentence by itself is within each of them.
        divided: how many sentences were divided to be so.
    """

    text: str
    bounds: IntArray
    totals: tuple[IntArray, ...]
    limits: tuple[Limit, ...]
    divided: int = 0

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.bounds) - 1

    def texts(self, start: int = 0, stop: int | None = None) -> list[str]:
        """The sentences from ``start`` up to, not including, ``stop``."""
        bounds = self.bounds[start : None if stop is None else stop + 1].tolist()
        return [self.text[a:b] for a, b in pairwise(bounds)]

    def fit(self, start: int, limit: int | None = None) -> int:
        """As many whole sentences from ``start`` as fit, at least one (law 3).

        Args:
            start: the first sentence.
            limit: which of `limits` to keep; None for all.

        Returns:
            One past the last sentence.
        """
        stops = self._stops(start)
        stop = max(start + 1, min(stops) if limit is None else stops[limit])
        while not self.within(start, stop):
            stop -= 1
        return stop

    def reach(self, start: int) -> int:
        """As many whole sentences from ``start`` as fit in the last limit by their sums.

        Returns:
            One past the last sentence.
        """
        return max(start + 1, self._stops(start)[-1])

    def within(self, start: int, stop: int) -> bool:
        """Whether a run that is within the sums of its sentences' sizes is so as one text."""
        if stop == start + 1:
            return True
        text = None
        for limit in self.limits:
            if not limit.additive:
                text = text or self.text[self.bounds[start] : self.bounds[stop]]
                if not limit.fits(text):
                    return False
        return True

    def shortened(self, start: int) -> bool:
        """Whether a limit behind the first one makes the run from ``start`` shorter."""
        first, *others = self._stops(start)
        return any(stop < first for stop in others)

    def largest_window(self, measure: Measure) -> int:
        """The largest size, by another measure, that a run within the first limit can have."""
        if not len(self):
            return 0
        total, most = self.totals[0], self.limits[0].most
        stops = np.searchsorted(total, total[:-1] + most, side="right") - 1
        other = _running_total(measure(self.texts()))
        return int((other[stops] - other[:-1]).max())

    def _stops(self, start: int) -> list[int]:
        return [
            int(np.searchsorted(total, total[start] + limit.most, side="right")) - 1
            for total, limit in zip(self.totals, self.limits, strict=True)
        ]


def tabulate(text: str, bounds: Sequence[int], limits: Sequence[Limit]) -> Sentences:
    """Measure sentences, and divide those that exceed a limit (law 2).

    Args:
        text: the document's text.
        bounds: rising offsets that tile (part of) it, as ``lgmgc.text.sentences.split`` gives.
        limits: what each sentence must keep; the first one's unit is the unit asked for.
    """
    whole = bounds
    for limit in limits:
        sizes = limit.measure([text[a:b] for a, b in pairwise(bounds)])
        over = np.flatnonzero(sizes > limit.most).tolist()
        if over:
            cuts = {end for k in over for end in divide(text, bounds[k], bounds[k + 1], limit.fits)}
            bounds = sorted(cuts.union(bounds))
    divided = int(np.count_nonzero(np.diff(np.searchsorted(bounds, whole)) > 1))
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    totals = tuple(_running_total(limit.measure(pieces)) for limit in limits)
    return Sentences(text, np.asarray(bounds, np.int64), totals, tuple(limits), divided)


def _running_total(sizes: IntArray) -> IntArray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))
