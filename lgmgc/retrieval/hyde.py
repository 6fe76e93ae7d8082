"""HyDE: search with a passage that could answer, which a model writes, in place of the question.

Source: Gao et al., "Precise zero-shot dense retrieval without relevance labels" (arXiv 2212.10496,
ACL 2023). What is written may be wrong; it is only there to lie near to passages that are right.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lgmgc.retrieval.embedding import Rows, TextEmbedder

MOST = 128
"""Tokens of the passage: about 90 English words."""

INSTRUCTION = """\
Write one paragraph of a book or report in which the answer to the question below stands. State it \
as the paragraph would, without naming the question. Guess what you do not know.

Question: {question}"""


class PassageWriter(Protocol):
    """A model that writes; `lgmgc.lm.writer.Writer` is one."""

    def write(self, instruction: str, most: int) -> str:
        """Its answer, of at most so many tokens."""
        ...


class Hyde:
    """Turns questions into rows to search with: ``index.search(q, vector=hyde.vector(q))``."""

    def __init__(
        self,
        writer: PassageWriter,
        embedder: TextEmbedder,
        *,
        average: bool = False,
        most: int = MOST,
    ) -> None:
        """Put the parts together.

        Args:
            writer: the model that writes the passage.
            embedder: the index's own.
            average: whether the question's own row counts as much as the passage's.
            most: tokens to write.
        """
        self._writer = writer
        self._embedder = embedder
        self._average = average
        self._most = most

    def passage(self, question: str) -> str:
        """What could answer; may be empty.

        Raises:
            UsageError: the question does not fit in the model's context.
        """
        return self._writer.write(INSTRUCTION.format(question=question), self._most).strip()

    def vector(self, question: str) -> Rows:
        """The row to search with, shape (dimensions,); of a model that writes nothing, the query's.

        Raises:
            UsageError: the question does not fit in the model's context.
        """
        passage = self.passage(question)
        rows = []
        if passage:
            rows.append(self._embedder.passages([passage])[0])
        if self._average or not passage:
            rows.append(self._embedder.queries([question])[0])
        mean: Rows = np.mean(rows, axis=0, dtype=np.float32)
        return mean
