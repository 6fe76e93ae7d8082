"""What a mean over questions, or the difference of two, is worth.

The question is the unit that is drawn. Questions about one document are not independent; with
``groups`` whole documents are drawn, and the mean stays that over questions. An interval from fewer
than about ten documents is too narrow, and one document alone says nothing about others: then
questions are drawn, and the result holds for that document.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
EXACT = 12
"""Units, up to which all 4,096 ways to flip signs are gone through."""
_AT_ONCE = 1 << 20


class Estimate(NamedTuple):
    """A mean with its 95 % interval.

    Attributes:
        mean: over questions.
        low: the 2.5th percentile of resampled means; NaN where there are not two units.
        high: the 97.5th.
        units: how many questions, or documents, were drawn from.
    """

    mean: float
    low: float
    high: float
    units: int


class Difference(NamedTuple):
    """A mean difference with its 95 % interval and p-value.

    Attributes:
        mean: of the differences of questions; positive where the baseline is lower.
        low: as `Estimate`.
        high: as `Estimate`.
        p: how often a difference at least as large, in either direction, comes about when each
            unit's sign is a coin's; NaN where there is no unit.
        units: as `Estimate`.
    """

    mean: float
    low: float
    high: float
    p: float
    units: int


def interval(
    values: Sequence[float],
    groups: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of a measure and its bootstrap percentile interval (Efron, 1979).

    Args:
        values: of each question.
        groups: the document of each question; None: questions are independent.
        seed: of what is drawn; the same in, the same out.
        resamples: how often.

    >>> interval([0.0, 1.0])
    Estimate(mean=0.5, low=0.0, high=1.0, units=2)
    """
    return _interval(*_units(values, groups), np.random.default_rng(seed), resamples)


def compare(
    values: Sequence[float],
    baseline: Sequence[float],
    groups: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Difference:
    """Compare two methods on the same questions.

    The p-value is that of a paired permutation test (Fisher, 1935): were the methods alike, each
    difference could as well have the other sign. With groups, a document's differences change sign
    together. Up to `EXACT` units that are not 0 all ways are gone through; with more, ``resamples``
    are drawn, and p = (1 + as large) / (1 + drawn) (Phipson and Smyth, 2010).

    Args:
        values: of each question.
        baseline: of the same questions in the same order.
        groups: as `interval`.
        seed: as `interval`.
        resamples: of the bootstrap, and of the permutations.

    >>> compare([1.0, 1.0, 1.0], [0.0, 0.0, 1.0]).p  # of ++, +-, -+, --: two are as large
    0.5
    """
    if len(values) != len(baseline):
        raise ValueError("compare needs the same questions on both sides")
    sums, counts = _units(np.subtract(values, baseline, dtype=float), groups)
    generator = np.random.default_rng(seed)
    mean, low, high, units = _interval(sums, counts, generator, resamples)
    return Difference(mean, low, high, _sign_flips(sums, generator, resamples), units)


def _units(
    values: Sequence[float] | Floats, groups: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """The sum of the values of each unit that is drawn, and how many they are."""
    array = np.asarray(values, float)
    if groups is None:
        return array, np.ones(len(array))
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    if len(numbers) < 2:
        return array, np.ones(len(array))
    owners = [numbers[group] for group, _ in zip(groups, array, strict=True)]
    sums = np.bincount(owners, array).astype(float)
    return sums, np.bincount(owners).astype(float)


def _interval(
    sums: Floats, counts: Floats, generator: np.random.Generator, resamples: int
) -> Estimate:
    units = len(sums)
    if not units:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    mean = float(sums.sum() / counts.sum())
    if units < 2:
        return Estimate(mean, float("nan"), float("nan"), units)
    means = [
        sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
        for drawn in (
            generator.integers(0, units, (size, units)) for size in _blocks(resamples, units)
        )
    ]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return Estimate(mean, float(low), float(high), units)


def _sign_flips(sums: Floats, generator: np.random.Generator, resamples: int) -> float:
    if not len(sums):
        return float("nan")
    sums = sums[sums != 0]  # flipping these changes nothing
    units = len(sums)
    # Sums of the same numbers in another order differ in the last bits.
    least = abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    if units <= EXACT:
        signs = 1 - 2 * (np.arange(1 << units)[:, None] >> np.arange(units) & 1)
        return float(np.mean(np.abs(signs @ sums) >= least))
    as_large = 0
    for size in _blocks(resamples, units):
        signs = 1 - 2 * generator.integers(0, 2, (size, units))
        as_large += int(np.count_nonzero(np.abs(signs @ sums) >= least))
    return (1 + as_large) / (1 + resamples)


def _blocks(resamples: int, units: int) -> list[int]:
    """How many resamples are drawn together, so that a block takes a few megabytes.

    >>> _blocks(10, 1 << 18)
    [4, 4, 2]
    """
    size = max(1, _AT_ONCE // units)
    return [min(size, resamples - start) for start in range(0, resamples, size)]
