"""DCG@k and Recall@k of ranked parents, by ir-measures.

DCG@k = Σ 1 / log2(rank + 1) over the relevant parents among the first k, as GutenQA's paper has it
(Duarte et al., arXiv 2406.17526). Recall@k is the share of the relevant parents among the first k.
With one relevant parent, which is what every rule of `relevance` gives, that is 1 or 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence

from lgmgc.errors import UsageError

DEPTHS = (1, 2, 5, 10, 20)
"""Each k that is measured."""


def ranking_measures(
    ranked: Sequence[Sequence[Hashable]],
    relevant: Sequence[Collection[Hashable]],
    depths: Sequence[int] = DEPTHS,
) -> list[dict[str, float]]:
    """DCG@k and Recall@k of every question.

    Args:
        ranked: for each question, the ids of parents, best first. An id that comes again takes a
            rank and counts nothing.
        relevant: for each question, the ids of the relevant parents. Where there is none, every
            measure is 0: no chunk of this chunking could have been right, and the ceiling tells how
            often that is.
        depths: each k.

    Returns:
        For each question in its order, the measures by name: ``DCG@1`` …, ``Recall@1`` ….

    Raises:
        UsageError: ir-measures is not installed.

    >>> ranking_measures([["b", "a", "c"]], [{"c"}], depths=[2, 5])
    [{'DCG@2': 0.0, 'DCG@5': 0.5, 'Recall@2': 0.0, 'Recall@5': 1.0}]
    """
    try:
        from ir_measures import Qrel, R, ScoredDoc, nDCG, pytrec_eval
    except ImportError:
        raise UsageError(
            "measures of retrieval need the library ir-measures: pip install 'lgmgc[eval]'"
        ) from None
    names = {nDCG @ k: f"DCG@{k}" for k in depths} | {R @ k: f"Recall@{k}" for k in depths}
    qrels, run = [], []
    for question, (found, right) in enumerate(zip(ranked, relevant, strict=True)):
        ranks = _first_ranks(found)
        key = str(question)
        qrels += [
            Qrel(key, str(ranks.get(each, f"not found: {n}")), 1) for n, each in enumerate(right)
        ]
        run += [ScoredDoc(key, str(rank), -rank) for rank in range(1, len(found) + 1)]
    values = [dict.fromkeys(names.values(), 0.0) for _ in ranked]
    for metric in pytrec_eval.iter_calc(list(names), qrels, run):
        values[int(metric.query_id)][names[metric.measure]] = float(metric.value)
    # ir-measures knows DCG only as a share of the best DCG that there could be; with one relevant
    # parent that is 1.
    for each, right in zip(values, relevant, strict=True):
        for k in depths:
            each[f"DCG@{k}"] *= sum(dcg(rank, k) for rank in range(1, len(right) + 1))
    return values


def dcg(rank: int | None, k: int) -> float:
    """The discounted cumulative gain of one relevant chunk: 1 / log2(rank + 1) if it is among k.

    >>> dcg(1, 5), dcg(3, 5), dcg(6, 5), dcg(None, 5)
    (1.0, 0.5, 0.0, 0.0)
    """
    return 1 / math.log2(rank + 1) if rank is not None and rank <= k else 0.0


def recall(rank: int | None, k: int) -> float:
    """Whether the relevant chunk is among the first k.

    >>> recall(5, 5), recall(6, 5), recall(None, 5)
    (1.0, 0.0, 0.0)
    """
    return float(rank is not None and rank <= k)


def _first_ranks(found: Sequence[Hashable]) -> dict[Hashable, int]:
    ranks: dict[Hashable, int] = {}
    for rank, each in enumerate(found, start=1):
        ranks.setdefault(each, rank)
    return ranks
