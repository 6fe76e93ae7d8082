"""Segments merged up to θ."""

from __future__ import annotations

from collections.abc import Collection

from lgmgc.text.table import Sentences


def merged(sentences: Sentences, ends: Collection[int]) -> list[int]:
    """Merge whole segments front to back, as many as fit in θ.

    A segment that is longer than θ is packed from its sentences; what is left of it is merged on.

    Args:
        sentences: the document's; their first limit is θ.
        ends: one past the last sentence of each segment.

    Returns:
        One past the last sentence of each parent, rising.
    """
    stops: list[int] = []
    start = 0
    while start < len(sentences):
        reach = sentences.fit(start, 0)
        fitting = (k for k in range(reach, start, -1) if k in ends and sentences.within(start, k))
        stops.append(next(fitting, reach))
        start = stops[-1]
    return stops
