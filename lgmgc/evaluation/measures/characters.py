"""Recall, precision and IoU in characters, as Chroma defines them, with half-open spans.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024), and its
program ``chunking_evaluation``. A place is a document's id and ``[start, end)`` in code points.
Where we differ from the program:

* a chunk that ends where a reference begins shares nothing with it; there it counts among those
  that hold the reference, which lowers precision Ω;
* references that overlap are counted once; there their lengths are added up;
* with nothing retrieved precision is 0; there it divides by zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[str, int, int]


class Overlap(NamedTuple):
    """What retrieved and reference characters have in common, as shares in [0, 1]."""

    recall: float
    precision: float
    iou: float


def overlap(retrieved: Sequence[Place], references: Sequence[Place]) -> Overlap:
    """Recall, precision and intersection over union of what was retrieved.

    What is retrieved twice is found once, but paid twice: it counts twice in the denominators of
    precision and IoU.

    Returns:
        All NaN where there is no reference.

    >>> overlap([("a", 0, 10), ("b", 0, 10)], [("a", 5, 15)])
    Overlap(recall=0.5, precision=0.25, iou=0.2)
    """
    wanted = union(references)
    if not wanted:
        return Overlap(float("nan"), float("nan"), float("nan"))
    found = common(union(retrieved), wanted)
    paid = length(retrieved)
    missed = length(wanted) - found
    return Overlap(found / length(wanted), found / max(1, paid), found / (paid + missed))


def precision_omega(chunks: Sequence[Place], references: Sequence[Place]) -> float:
    """Precision Ω: what precision would be if just the chunks that hold the references were found.

    It tells how closely a chunking can fit, whatever the retrieval.

    Args:
        chunks: all of them.
        references: of one question.

    Returns:
        The references' characters in the chunks, as a share of the characters of these chunks and
        of the references; NaN where there is no reference.

    >>> precision_omega([("a", 0, 10), ("a", 10, 20), ("a", 20, 30)], [("a", 5, 20)])
    0.75
    """
    wanted = union(references)
    if not wanted:
        return float("nan")
    holding = union([chunk for chunk in chunks if common([chunk], wanted)])
    return common(holding, wanted) / length(union([*holding, *wanted]))


def union(places: Sequence[Place]) -> list[Place]:
    """The same characters, each once, in rising order; empty places are left out.

    >>> union([("a", 5, 9), ("a", 0, 6), ("b", 0, 1), ("a", 9, 10), ("a", 20, 20)])
    [('a', 0, 10), ('b', 0, 1)]
    """
    merged: list[Place] = []
    for document, start, end in sorted(place for place in places if place[1] < place[2]):
        if merged and merged[-1][0] == document and start <= merged[-1][2]:
            merged[-1] = (document, merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((document, start, end))
    return merged


def length(places: Sequence[Place]) -> int:
    """Characters, those that come twice counted twice."""
    return sum(end - start for _, start, end in places)


def common(left: Sequence[Place], right: Sequence[Place]) -> int:
    """Characters that stand in both, each of which counts no character twice.

    >>> common([("a", 0, 5), ("b", 0, 5)], [("a", 3, 9), ("b", 5, 9)])
    2
    """
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for document, start, end in left
        for other, other_start, other_end in right
        if document == other
    )
