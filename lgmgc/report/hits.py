"""The hits of searches as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lgmgc.report.page import render
from lgmgc.retrieval.hits import Hit


@dataclass(frozen=True, slots=True)
class Marked:
    """What to read of a hit: before the winning piece, the piece, and behind it."""

    hit: Hit
    before: str
    piece: str
    after: str


def hits_page(found: Sequence[tuple[str, Sequence[Hit]]], *, index: str, mode: str) -> str:
    """The hits of each query, best first, with the winning piece marked.

    Args:
        found: queries and their hits.
        index: where they were found.
        mode: how.

    Returns:
        HTML, to be written in UTF-8.
    """
    queries = [(query, [marked(hit) for hit in hits]) for query, hits in found]
    return render("hits.html", queries=queries, index=index, mode=mode)


def marked(hit: Hit) -> Marked:
    """Divide the text of a hit around its piece, whose outer white space is left unmarked.

    A piece that is not in what is read (as where two hits share a window) is marked as empty.
    """
    text, offset = hit.text, hit.reading[0]
    start = min(max(0, hit.piece.start - offset), len(text))
    end = max(start, min(len(text), hit.piece.end - offset))
    piece = text[start:end]
    end = start + len(piece.rstrip())
    start = min(end, end - len(piece.strip()))
    return Marked(hit, text[:start], text[start:end], text[end:])
