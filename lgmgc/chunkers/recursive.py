"""Parents by the recursive rule: paragraphs, lines, sentences, words, graphemes, merged up to θ.

Source: RecursiveCharacterTextSplitter of LangChain (langchain-text-splitters 1.x). The
multi-granular chunker without a model stands on it (the "MG" of the LGMGC ablation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from lgmgc.chunkers.lines import line_ends, paragraph_ends
from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.text.divide import divide
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Limit, Sentences

Division = Callable[[int, int], list[int]]
"""The first code point of a span and one past its last, to the rising ends of its pieces."""


def recursive(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Divide the whole text by the recursive rule; see `division`.

    Args:
        sentences: the document's; their first limit is θ.
        options: none is read.
        document: not needed.
    """
    return Segmentation(tiling(division(sentences)(0, len(sentences.text))))
    yield  # a generator like the others


def division(sentences: Sentences) -> Division:
    r"""The recursive rule for a text.

    A span is cut into paragraphs; whole paragraphs are merged front to back, as many as fit in θ.
    One that is longer by itself is cut into lines, such a line into sentences, and such a sentence
    into words, else graphemes; the pieces of one piece are merged with each other and never with
    what stands around it. The separator stays with the piece before it.

    These are the pieces of LangChain's splitter with the separators ``"\n\n", "\n", ". ", " ", ""``
    kept at the end, where both mean the same by their words. Ours differs on purpose:

    - Any line break counts, and blank lines may hold white space; several make one separator.
      Sentences are the document's own. A word has all white space behind it, a CJK character is
      one, and graphemes stay whole.
    - A sentence longer than θ is divided (`lgmgc.text.divide`) before the rule sees it, and what is
      left of it, like what is left of a word, is merged with what follows.
    - LangChain divides what has exactly the size of θ, which is seen where counting is uneven: a
      word at θ of one word falls into letters. Ours keeps it.
    - LangChain drops pieces of white space. Here they are joined to the piece before, else to the
      one after; one that fits to neither stays.

    Args:
        sentences: the document's; their first limit is θ.

    Returns:
        The function from any span of the text to the ends of its pieces; the last is the span's.
        None for the empty span. What is made here once is shared by all spans.
    """
    text, limit = sentences.text, sentences.limits[0]
    levels = paragraph_ends(text), line_ends(text), sentences.bounds

    def divided(start: int, end: int) -> list[int]:
        if start == end:
            return []
        return _without_blanks(text, limit, start, _divided(text, limit, levels, start, end))

    return divided


def tiling(ends: Iterable[int]) -> list[Parent]:
    """Parents that begin where the one before ends, the first at the text's beginning."""
    return [Parent(start, end) for start, end in pairwise([0, *ends])]


def _divided(
    text: str, limit: Limit, levels: Sequence[IntArray], start: int, end: int
) -> list[int]:
    if not levels:
        return divide(text, start, end, limit.fits)
    level, *finer = levels
    inner = level[slice(*np.searchsorted(level, (start + 1, end)))]
    bounds = np.concatenate(([start], inner, [end]))
    pieces = [text[a:b] for a, b in pairwise(bounds.tolist())]
    sizes = limit.measure(pieces)
    total = np.concatenate(([0], np.cumsum(sizes)))
    table = Sentences(text, bounds, (total,), (limit,))
    ends: list[int] = []
    at = 0
    for large in [*np.flatnonzero(sizes > limit.most).tolist(), len(pieces)]:
        while at < large:  # no run goes on behind `large`, which exceeds the limit by itself
            at = table.fit(at)
            ends.append(int(bounds[at]))
        if large < len(pieces):
            ends += _divided(text, limit, finer, int(bounds[large]), int(bounds[large + 1]))
            at = large + 1
    return ends


def _without_blanks(text: str, limit: Limit, start: int, ends: Sequence[int]) -> list[int]:
    """Join pieces of white space to the piece before or, at second best, after."""
    spans: list[tuple[int, int]] = []
    for span in pairwise([start, *ends]):
        if spans and any(text[slice(*each)].isspace() for each in (spans[-1], span)):
            joined = spans[-1][0], span[1]
            if limit.fits(text[slice(*joined)]):
                spans[-1] = joined
                continue
        spans.append(span)
    return [end for _, end in spans]
