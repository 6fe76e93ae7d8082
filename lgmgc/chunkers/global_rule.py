"""The global rule, ours: all cuts of a document chosen together, from one reading.

The greedy rule reads again what is left of a window after each cut, and never takes a cut back.
Here the document is read once, in long windows, and dynamic programming finds the parents whose
boundary scores and sizes are best in sum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lgmgc.chunkers.calibrate import calibrate
from lgmgc.chunkers.long_windows import read_once
from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Sentences

STEPS = 16
"""Of the bisection; each is a pass over the sentences."""

Within = Callable[[int, int], bool]


def _always(start: int, stop: int) -> bool:
    return True


def global_rule(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Choose the parents that maximise the sum of

        strength · z(end) − ((size − target) / target)² − price

    where z is the boundary score at a parent's end, standardised within the document (several
    signals are standardised one by one, added, and standardised again), under the limit θ. The
    price of a parent is the one that makes their number what the target size asks for: a cut at
    any score above the mean would pay otherwise, and parents be small whatever the target.

    Args:
        sentences: the document's; their limits are θ and a window's length in tokens.
        options: ``signal``, ``drift``, ``target`` and ``strength``.
        document: not needed.
    """  # noqa: D415
    if not len(sentences):
        return Segmentation([])
    reading = yield from read_once(sentences, options.signals)
    several = len(options.signals) > 1
    calibration = calibrate(reading.signals, reading.places, options.drift, unit=several)
    scores = calibration.combine(reading.signals, reading.places)
    stops = stops_near_target(
        options.strength * standardised(scores),
        sentences.totals[0],
        sentences.limits[0].most,
        options.target or max(1, 2 * sentences.limits[0].most // 3),
        sentences.within,
    )
    at_ends = [float(scores[stop - 1]) if np.isfinite(scores[stop - 1]) else None for stop in stops]
    at_ends[-1] = None  # the end of the text is no choice
    return Segmentation(parents(sentences, stops, at_ends))


def standardised(scores: ScoreArray) -> ScoreArray:
    """Mean 0 and deviation 1; what is not finite becomes the least of what is.

    >>> standardised(np.array([1.0, 3.0, np.nan])).tolist(), standardised(np.full(2, 5.0)).tolist()
    ([-1.0, 1.0, -1.0], [0.0, 0.0])
    """
    known = scores[np.isfinite(scores)]
    if not len(known):
        return np.zeros(len(scores))
    spread = known.std() or 1.0
    filled = np.where(np.isfinite(scores), scores, known.min())
    out: ScoreArray = (filled - known.mean()) / spread
    return out


def stops_near_target(
    gains: ScoreArray, total: IntArray, most: int, target: int, within: Within = _always
) -> list[int]:
    """`best_stops` at the price of a run that makes their number nearest to total / target.

    The number of runs falls as the price rises, so the price is found by bisection. Where the
    limit alone asks for more runs, there are more.
    """
    wanted = max(1, round(int(total[-1]) / target))
    # At these prices no run, or every run, pays for itself whatever it gains.
    reach = float(np.ptp(gains)) + (most / target) ** 2 + 1
    low, high = -reach, reach
    best: list[int] = []
    for _ in range(STEPS):
        price = (low + high) / 2
        stops = best_stops(gains - price, total, most, target, within)
        if not best or abs(len(stops) - wanted) < abs(len(best) - wanted):
            best = stops
        if len(stops) == wanted:
            break
        low, high = (price, high) if len(stops) > wanted else (low, price)
    return best


def best_stops(
    gains: ScoreArray,
    total: IntArray,
    most: int,
    target: int,
    within: Within = _always,
) -> list[int]:
    """The division of items into runs with the greatest sum of gains less penalties for size.

    Time grows with the items times those that fit in a run. Of equals, the longest last run wins.

    Args:
        gains: shape (n,): what a run wins that ends with the item; the last item's does not count.
        total: shape (n + 1,), the running total of the items' sizes; no item exceeds ``most``.
        most: the limit of a run.
        target: the size that costs nothing; others cost ((size − target) / target)².
        within: whether a run within ``most`` by its sum is so in truth; single items are.

    Returns:
        One past the last item of each run.

    >>> best_stops(np.array([0.0, 2.0, 0.0, 0.0]), np.arange(5), 3, 2)
    [2, 4]
    """
    count = len(gains)
    best = np.zeros(count + 1)
    begin = np.zeros(count + 1, np.int64)
    lows = np.searchsorted(total, total - most)
    for stop in range(1, count + 1):
        low = min(int(lows[stop]), stop - 1)
        sizes = (total[stop] - total[low:stop]) / target
        values = best[low:stop] - (sizes - 1) ** 2
        place = int(values.argmax())
        while not within(low + place, stop):
            values[place] = -np.inf
            place = int(values.argmax()) if np.isfinite(values).any() else stop - 1 - low
        begin[stop] = low + place
        best[stop] = values[place] + gains[stop - 1]
    stops = [count]
    while begin[stops[-1]]:
        stops.append(int(begin[stops[-1]]))
    return stops[::-1]
