"""Measures of a segmentation against the one that people made.

A text of n units (sentences, paragraphs, turns) has n − 1 places between them. A segmentation says
of each whether a segment ends there: a boolean array of shape (n − 1,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ends = NDArray[np.bool_]


def window_size(gold: Ends) -> int:
    """Half the mean length of a gold segment in units, rounded, at least 2 (Pevzner and Hearst).

    >>> window_size(np.array([0, 0, 1, 0, 0, 0, 0], bool))  # 3 and 5 units: mean 4
    2
    """
    return max(2, round((len(gold) + 1) / (int(gold.sum()) + 1) / 2))


def pk(gold: Ends, guess: Ends, k: int | None = None) -> float:
    """Pk of Beeferman, Berger, Lafferty (1999): how often two units, k apart, are put wrongly.

    Args:
        gold: shape (n − 1,).
        guess: as ``gold``.
        k: the distance; None for `window_size`.

    Returns:
        In [0, 1], 0 is best. NaN where no two units are k apart.
    """
    k = k or window_size(gold)
    return _mean((_between(gold, k) > 0) != (_between(guess, k) > 0))


def window_diff(gold: Ends, guess: Ends, k: int | None = None) -> float:
    """WindowDiff of Pevzner and Hearst (2002): how often two units have other boundaries between.

    Args and result as `pk`; the number of boundaries is compared instead of whether there are any.
    """
    k = k or window_size(gold)
    return _mean(_between(gold, k) != _between(guess, k))


def boundary_f1(gold: Ends, guess: Ends) -> float:
    """The harmonic mean of precision and recall of boundaries; 0 where none is right."""
    right = int((gold & guess).sum())
    return 2 * right / max(1, int(gold.sum() + guess.sum()))


def auc(scores: NDArray[np.float64], gold: Ends) -> float:
    """The area under the ROC curve: how often a true boundary scores higher than another place.

    Equal scores count half (Mann-Whitney). Places with NaN are left out.

    Args:
        scores: shape (n − 1,).
        gold: shape (n − 1,).

    Returns:
        In [0, 1]; 0.5 is chance; NaN where one of the two kinds is absent.

    >>> auc(np.array([1.0, 2.0, 3.0, 2.0]), np.array([0, 1, 1, 0], bool))
    0.875
    """
    known = ~np.isnan(scores)
    scores, gold = scores[known], gold[known]
    positives, negatives = scores[gold], np.sort(scores[~gold])
    if not len(positives) or not len(negatives):
        return float("nan")
    below = np.searchsorted(negatives, positives, "left")
    upto = np.searchsorted(negatives, positives, "right")
    return float((below + upto).sum() / 2 / len(positives) / len(negatives))


def _between(ends: Ends, k: int) -> NDArray[np.int64]:
    """How many boundaries stand between each unit and the k-th after it."""
    total = np.concatenate(([0], np.cumsum(ends)))
    return total[k:] - total[:-k] if k < len(total) else total[:0]


def _mean(wrong: NDArray[np.bool_]) -> float:
    return float(wrong.mean()) if len(wrong) else float("nan")
