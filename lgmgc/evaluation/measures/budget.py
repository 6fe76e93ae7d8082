"""What methods deliver at equal cost: evidence within a budget of tokens.

k parents of 300 words cost a reader more than k of 100, so that a measure at equal k favours large
chunks. Here every method may deliver the same number of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lgmgc.evaluation.measures.characters import Place, common, length, union

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens."""


class Delivery(NamedTuple):
    """What a reader is given within a budget.

    Attributes:
        parents: how many.
        tokens: what they cost.
        recall: the share of the evidence's characters among them; NaN where there is no evidence.
        precision: the share of their characters that are evidence; 0 where nothing is delivered,
            NaN where there is no evidence. Characters that two parents share count once.
    """

    parents: int
    tokens: int
    recall: float
    precision: float


def deliver(
    ranked: Sequence[Place], tokens: Sequence[int], evidence: Sequence[Place], budget: int
) -> Delivery:
    """Deliver parents in their order within a budget.

    A parent is delivered and charged whole. The first that would pass the budget ends the delivery,
    even if a smaller one after it would fit: a reader who skips it would be given what the ranking
    thinks less of.

    Args:
        ranked: the places of the parents, best first.
        tokens: of each.
        evidence: all places of it.
        budget: tokens at most.

    >>> ranked = [("a", 10, 20), ("a", 0, 10), ("a", 20, 30)]
    >>> deliver(ranked, [4, 4, 1], [("a", 5, 15)], budget=8)
    Delivery(parents=2, tokens=8, recall=1.0, precision=0.5)
    >>> deliver(ranked, [4, 5, 1], [("a", 5, 15)], budget=8)
    Delivery(parents=1, tokens=4, recall=0.5, precision=0.5)
    """
    count = spent = 0
    for cost, _ in zip(tokens, ranked, strict=True):
        if spent + cost > budget:
            break
        spent += cost
        count += 1
    given, wanted = union(ranked[:count]), union(evidence)
    if not wanted:
        return Delivery(count, spent, float("nan"), float("nan"))
    found = common(given, wanted)
    return Delivery(count, spent, found / length(wanted), found / max(1, length(given)))
