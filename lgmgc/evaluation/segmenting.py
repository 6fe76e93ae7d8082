"""The boundaries of chunks against those that people made."""

from __future__ import annotations

import numpy as np

from lgmgc.document import Tree
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.measures.segmentation import Ends, boundary_f1, pk, window_diff


def segmentation_of(benchmark: Benchmark, tree: Tree) -> dict[str, float]:
    """Pk, WindowDiff and F1 of a document's parents.

    A cut inside a unit counts at the end of the unit that is nearest.

    Args:
        benchmark: with gold boundaries.
        tree: of one of its documents.
    """
    stops = np.array(benchmark.units[tree.document.id])
    gold = _ends(stops, np.array([end for _, end in benchmark.boundaries[tree.document.id]]))
    guess = _ends(stops, np.array([parent.end for parent in tree.parents]))
    return {
        "Pk": pk(gold, guess),
        "WindowDiff": window_diff(gold, guess),
        "F1": boundary_f1(gold, guess),
        "boundaries per gold one": float(guess.sum() / max(1, gold.sum())),
    }


def _ends(stops: np.ndarray, cuts: np.ndarray) -> Ends:
    """After which units there is a cut, shape (units - 1,).

    >>> _ends(np.array([4, 8, 12]), np.array([5, 12])).tolist()
    [True, False]
    """
    above = np.searchsorted(stops, cuts).clip(1, len(stops) - 1)
    nearer_below = cuts - stops[above - 1] < stops[above] - cuts
    ends = np.zeros(len(stops), bool)
    ends[above - nearer_below] = True
    return ends[:-1]
