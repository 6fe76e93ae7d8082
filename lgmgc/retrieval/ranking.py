"""Rankings of parents, and how two of them become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

CONSTANT = 60
"""The k of reciprocal rank fusion, as its paper sets it."""


class Match(NamedTuple):
    """A parent, the piece of it that matches best, by their row ids, and that piece's score."""

    parent: int
    piece: int
    score: float


def fuse(rankings: Sequence[Sequence[Match]], places: Mapping[int, Any]) -> list[Match]:
    """Reciprocal rank fusion: a parent scores the sum of 1 / (60 + rank) over the rankings.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009. Each parent keeps the piece of the ranking where it stands
    highest, the first such ranking on a tie.

    Args:
        rankings: each best first.
        places: parent to whatever orders parents of equal score.

    >>> one, two = [Match(1, 11, 0.9), Match(2, 21, 0.8)], [Match(2, 22, 7.0)]
    >>> fuse([one, two], {1: "a", 2: "b"})[0] == Match(2, 22, 1 / 62 + 1 / 61)
    True
    """
    scores: dict[int, float] = {}
    best: dict[int, tuple[int, int]] = {}
    for ranking in rankings:
        for rank, match in enumerate(ranking, 1):
            scores[match.parent] = scores.get(match.parent, 0.0) + 1 / (CONSTANT + rank)
            if match.parent not in best or rank < best[match.parent][0]:
                best[match.parent] = rank, match.piece
    order = sorted(scores, key=lambda parent: (-scores[parent], places[parent]))
    return [Match(parent, best[parent][1], scores[parent]) for parent in order]
