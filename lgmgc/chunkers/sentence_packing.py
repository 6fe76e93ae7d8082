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


def packed(sentences: Sentences, start: int = 0, stop: int | None = None) -> list[int]:
    """One past the last sentence of each run, as long as the first limit allows.

    Args:
        sentences: the document's.
        start: the first sentence.
        stop: one past the last; None for all.
    """
    stop = len(sentences) if stop is None else stop
    stops: list[int] = []
    while start < stop:
        end = min(stop, sentences.fit(start, 0))
        while not sentences.within(start, end):  # in tokens, a beginning may exceed the whole
            end -= 1
        stops.append(end)
        start = end
    return stops
