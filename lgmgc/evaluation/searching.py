"""The parents that each question of a benchmark finds, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lgmgc.document import Chunk, Tree
from lgmgc.evaluation.benchmark import Benchmark, Span
from lgmgc.evaluation.remembered import RememberedEmbedder
from lgmgc.retrieval.embedding import Rows
from lgmgc.retrieval.matrix import Matrix
from lgmgc.retrieval.rows import content, pieces

DEPTH = 1000
"""How many parents are kept of each question: enough for every k, and for every budget where
parents have 4 tokens or more on the average, as the shortest paragraphs of a dialogue do."""


@dataclass(frozen=True, slots=True)
class Found:
    """A parent that a question found.

    Attributes:
        parent: with its document.
        place: its number in its document's tree.
        score: that of its best piece.
        level: of that piece.
    """

    parent: Chunk
    place: int
    score: float
    level: int


def search_all(
    benchmark: Benchmark,
    trees: Sequence[Tree],
    embedder: RememberedEmbedder,
    levels: Sequence[int] = (),
) -> list[list[Found]]:
    """Search for every question: in its document, or in all, as the benchmark says.

    Args:
        benchmark: with questions.
        trees: of its documents, in their order.
        embedder: of pieces and questions.
        levels: of the pieces that are compared; a parent without any of these is compared itself.
            Empty for all.

    Returns:
        For each question, the `DEPTH` best parents, best first.
    """
    queries = embedder.queries([question.text for question in benchmark.questions])
    if benchmark.scope == "collection":
        whole = _Searched(trees, embedder, levels)
        return [whole.best(query) for query in queries]
    own = {tree.document.id: _Searched([tree], embedder, levels) for tree in trees}
    return [
        own[question.document].best(query)
        for question, query in zip(benchmark.questions, queries, strict=True)
    ]


def read_span(parent: Chunk) -> Span:
    """What a reader is given where a parent is found: its window, if it has one."""
    return parent.window or (parent.start, parent.end)


def won(found: Sequence[Sequence[Found]], depth: int = 20) -> dict[int, float]:
    """By which level's piece the first parents were found, as shares that add up to 1."""
    levels = np.array([each.level for some in found for each in some[:depth]], int)
    return {int(level): float(np.mean(levels == level)) for level in np.unique(levels)}


class _Searched:
    """Trees with the vectors of their pieces."""

    def __init__(
        self, trees: Sequence[Tree], embedder: RememberedEmbedder, levels: Sequence[int]
    ) -> None:
        self._parents: list[tuple[Chunk, int]] = []
        kept: list[Chunk] = []
        starts: list[int] = []
        self._owners: list[int] = []
        for tree in trees:
            places = {id(parent): k for k, parent in enumerate(tree.parents)}
            for _, piece in pieces(tree):
                if piece.level == 0:
                    some = [c for c in (piece, *piece.children) if not levels or c.level in levels]
                    starts.append(len(kept))
                    kept += some or [piece]
                    self._owners += [len(self._parents)] * len(some or [piece])
                    self._parents.append((piece, places[id(piece)]))
        rows: Rows = embedder.passages([content(piece) for piece in kept])
        self._matrix = Matrix(
            rows,
            np.empty(0, np.float32),
            np.arange(len(kept)),
            np.array([piece.level for piece in kept], np.int8),
            np.array(starts, np.int64),
        )

    def best(self, query: Rows) -> list[Found]:
        found = []
        for match in self._matrix.best(query, DEPTH):
            parent, place = self._parents[self._owners[match.piece]]
            level = int(self._matrix.levels[match.piece])
            found.append(Found(parent, place, match.score, level))
        return found
