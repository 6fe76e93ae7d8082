"""How large the chunks of a method are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def sizes_of(sizes: Sequence[int], theta: int | None = None) -> dict[str, float]:
    """Sum up sizes in one unit.

    Args:
        sizes: of all chunks.
        theta: the limit; None for chunks that were made without one.

    Returns:
        ``count``, ``mean``, ``deviation`` (of these chunks themselves: divided by their count),
        ``smallest``, ``largest``, and ``over``: the share that is larger than θ, which law 2 says
        is 0. What cannot be told is NaN: all but the count where there is no chunk, and ``over``
        where there is no θ.

    >>> sizes_of([2, 4, 6, 8], theta=6)["over"], sizes_of([2, 4, 6, 8])["mean"]
    (0.25, 5.0)
    """
    array = np.array(sizes, float)
    if not len(array):
        array = np.full(1, np.nan)
    return {
        "count": len(sizes),
        "mean": float(array.mean()),
        "deviation": float(array.std()),
        "smallest": float(array.min()),
        "largest": float(array.max()),
        "over": float("nan") if theta is None or not sizes else float((array > theta).mean()),
    }
