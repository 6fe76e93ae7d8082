"""What an index tells: hits, and what was added and is there."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as the index keeps it.

    Attributes:
        id: the chunk's, as in the rows that `lgmgc chunk` writes.
        level: 0 for a parent, 1 and 2 for children.
        start: first code point in the document.
        end: one past the last code point.
        text: the document's own text from ``start`` to ``end``.
        view: what was indexed in place of the text, such as a proposition; None: the text.
        pages: see `lgmgc.document.Chunk.pages`.
        headings: see `lgmgc.document.Chunk.headings`.
    """

    id: str
    level: int
    start: int
    end: int
    text: str = field(repr=False)
    view: str | None = field(default=None, repr=False)
    pages: tuple[int, int] | None = None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A parent that was found.

    Attributes:
        rank: 1 for the best.
        score: dense: cosine similarity plus the level's bonus; lexical: BM25, higher is better;
            hybrid: the sum of reciprocal ranks. Scores of different modes do not compare.
        document: the document's id.
        parent: what was found.
        piece: the part of it whose score it is; the parent itself where no child is better. In
            hybrid mode that of the ranking where the parent stands higher.
        reading: the span to hand to a reader: the piece's window, else the parent's, else the
            parent's own span.
        text: the document's own text of ``reading``.
    """

    rank: int
    score: float
    document: str
    parent: Passage
    piece: Passage
    reading: tuple[int, int]
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Added:
    """What `Index.add` did.

    Attributes:
        added: documents that were not there.
        replaced: documents that were there with another content or configuration.
        skipped: documents that were there already, unchanged.
        pieces: what was indexed: the parents and children of those added and replaced.
    """

    added: int = 0
    replaced: int = 0
    skipped: int = 0
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """What is in an index; ``words`` as ``lgmgc.text.sizes.count_words`` counts each document."""

    documents: int
    parents: int
    pieces: int
    words: int
