"""Whole sentences packed front to back: the control that knows sentences and nothing else."""

from __future__ import annotations

from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.text.table import Sentences


def sentence_packing(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Put as many whole sentences into each parent as fit in θ.

    Args:
        sentences: the document's; their first limit is θ.
        options: none is read.
        document: not needed.
    """
    return Segmentation(parents(sentences, packed(sentences)))
    yield  # a generator like the others


def packed(sentences: Sentences) -> list[int]:
    """One past the last sentence of each run, as long as the first limit allows."""
    stops: list[int] = []
    start = 0
    while start < len(sentences):
        start = sentences.fit(start, 0)
        stops.append(start)
    return stops
