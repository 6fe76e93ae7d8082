"""All pieces' vectors in memory, and the exact search for the best parents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lgmgc.retrieval.embedding import Rows, Stored
from lgmgc.retrieval.ranking import Match

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

BLOCK = 1 << 18
"""Numbers that are multiplied at once. What is converted for it stays in the processor's cache, and
BLAS stays in one thread: with more, a busy machine makes it 40 times slower."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Vectors of pieces, those of a parent next to each other.

    Attributes:
        rows: shape (pieces, dimensions), unit rows; parents in the order that decides ties.
        scales: shape (pieces,), the factor of each row of int8; empty for float32.
        pieces: shape (pieces,), row ids.
        levels: shape (pieces,).
        starts: shape (parents,), where each parent stands in the others, in front of its children.
    """

    rows: Stored
    scales: Rows
    pieces: Ids
    levels: NDArray[np.int8]
    starts: Ids

    def best(self, query: Rows, k: int, level_bonus: Sequence[float] = ()) -> list[Match]:
        """The k best parents: ``score(parent) = max over its pieces of (cosine + bonus)``.

        Exact: the matrix product, whose last bits depend on where a row lies, only shuts out what
        cannot be among the best; what is left is scored again in float64, each row by itself. So
        equal vectors score equal, and ties go to the parent, then the piece, that comes first.

        Args:
            query: shape (dimensions,), a unit row.
            k: parents; all are given when there are fewer.
            level_bonus: added to the similarity of pieces of level 0, 1, …; 0 beyond its end.

        Returns:
            Best first.
        """
        if not len(self.rows):
            return []
        bonus = np.zeros(int(self.levels.max()) + 1)
        bonus[: len(level_bonus)] = level_bonus[: len(bonus)]
        rough = self._rough(query)
        if bonus.any():
            rough += bonus.astype(np.float32)[self.levels]
        tops = np.maximum.reduceat(rough, self.starts)
        k = min(k, len(tops))
        # A float32 sum of d products of unit rows is off by less than d · 2⁻²⁴; twice that, since
        # it holds for the k-th best as well, and twice again for the rounding of scales and bonus.
        slack = (len(query) + 8) * 2.0**-22 * (1 + np.abs(bonus).max())
        found = np.flatnonzero(tops >= np.partition(tops, -k)[-k] - slack)

        counts = np.diff(self.starts, append=len(rough))[found]
        first = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) + np.repeat(self.starts[found] - first, counts)
        exact = self._exact(rows, query) + bonus[self.levels[rows]]
        scores = np.maximum.reduceat(exact, first)
        winners = np.flatnonzero(exact == np.repeat(scores, counts))
        winners = rows[winners[np.searchsorted(winners, first)]]
        order = np.argsort(-scores, kind="stable")[:k]
        return [
            Match(int(self.pieces[parent]), int(self.pieces[row]), float(score))
            for parent, row, score in zip(
                self.starts[found][order], winners[order], scores[order], strict=True
            )
        ]

    def _rough(self, query: Rows) -> Rows:
        scores = np.empty(len(self.rows), np.float32)
        for block in self._blocks(len(scores)):
            np.dot(self.rows[block].astype(np.float32, copy=False), query, out=scores[block])
        return scores * self.scales if len(self.scales) else scores

    def _exact(self, rows: Ids, query: Rows) -> Scores:
        """Similarities whose bits depend on the row and the query alone."""
        scores = np.empty(len(rows))
        for block in self._blocks(len(rows)):
            scores[block] = (self.rows[rows[block]] * query.astype(np.float64)).sum(axis=1)
        return scores * self.scales[rows] if len(self.scales) else scores

    def _blocks(self, count: int) -> Iterator[slice]:
        step = max(1, BLOCK // self.rows.shape[1])
        return (slice(start, start + step) for start in range(0, count, step))
