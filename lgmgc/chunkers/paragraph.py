"""Paragraphs as they are: the baseline of GutenQA.

Source: Duarte et al., "LumberChunker: Long-Form Narrative Document Segmentation" (arXiv 2406.17526,
EMNLP 2024), whose "paragraph level" baseline takes a book's paragraphs as chunks.
"""

from __future__ import annotations

from itertools import pairwise

from lgmgc.chunkers.lines import paragraph_ends
from lgmgc.chunkers.method import Cutting, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.recursive import division, tiling
from lgmgc.document import Document
from lgmgc.text.table import Sentences


def paragraph(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Make each paragraph a parent; one longer than θ is divided by the recursive rule (law 2).

    Blank lines separate paragraphs and belong to the one before.

    Args:
        sentences: the document's; their first limit is θ.
        options: none is read.
        document: not needed.
    """
    divided = division(sentences)
    bounds = [0, *paragraph_ends(sentences.text).tolist()]
    return Segmentation(tiling(end for span in pairwise(bounds) for end in divided(*span)))
    yield  # a generator like the others
