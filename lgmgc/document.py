"""Document, chunk and tree: spans over unchanged text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from lgmgc.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Document:
    r"""An id, a text that is never altered, and metadata that is carried along.

    Attributes:
        id: how outputs name the document; the command line uses the path as it was given.
        text: Unicode code points. A lone surrogate (half of a UTF-16 pair, which no file encoding
            can hold) is refused, because neither the tokenizer nor an output could keep it.
        metadata: anything; not read by any chunker.

    Raises:
        DocumentError: the text holds a lone surrogate.

    >>> Document("a", "One. Two.").content_hash[:8]
    '668b4fb6'
    """

    id: str
    text: str
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        try:
            self.text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise DocumentError(
                f"{self.id}: lone surrogate U+{ord(self.text[error.start]):04X} at character "
                f"{error.start}; decode the source with errors='replace' first"
            ) from None

    @property
    def content_hash(self) -> str:
        """The sha256 of the text in UTF-8, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A parent or a child: the span ``[start, end)`` of its document's text.

    Attributes:
        document: the document whose text this is a span of.
        id: 16 hexadecimal digits, the same in every run (law 4).
        level: 0 for a parent, 1 for a child of at most θ/2, 2 for a child of at most θ/4.
        start: first code point.
        end: one past the last code point.
        words: size in words, as ``lgmgc.text.sizes.count_words`` counts them.
        score: the boundary score at ``end``, natural logarithm; None where no model gave one.
        children: the level 1 children in order, then the level 2 children in order. A level that
            would hold a single piece equal to its parent is left out.
        window: the larger span to read where this chunk is found; None: the chunk itself.
        view: what stands for this chunk when it is searched for, such as a proposition that a model
            made of it; None: its own text.
    """

    document: Document = field(repr=False)
    id: str
    level: int
    start: int
    end: int
    words: int
    score: float | None = None
    children: tuple[Chunk, ...] = field(default=(), repr=False)
    window: tuple[int, int] | None = None
    view: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The document's own text from ``start`` to ``end``."""
        return self.document.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Tree:
    """A document's parents in order, each with its children.

    Law 1: the parents tile the document and the children of one level tile their parent, so
    ``"".join(parent.text for parent in tree.parents) == tree.document.text``. Two things are made
    to be otherwise: chunks that overlap (see `tiles`), and children that are views.
    """

    document: Document
    parents: tuple[Chunk, ...]

    @property
    def tiles(self) -> bool:
        """Whether each parent begins where the one before ends: not so for ``fixed`` with overlap.

        >>> Tree(Document("a", ""), ()).tiles
        True
        """
        return all(left.end == right.start for left, right in pairwise(self.parents))

    def __iter__(self) -> Iterator[Chunk]:
        """Every chunk in document order, a parent before its children."""
        for parent in self.parents:
            yield parent
            yield from parent.children


def chunk_id(document: Document, content_hash: str, configuration: str, *place: int | str) -> str:
    """The id of a chunk: a hash of content and configuration, so that it never changes by itself.

    Args:
        document: whose id keeps two documents of equal content apart.
        content_hash: the document's own, passed in so that it is computed once a document.
        configuration: what decides the chunk apart from the text.
        place: level, start and end; and the view, for a chunk that has one.

    Returns:
        16 hexadecimal digits (64 bits).
    """
    key = "\0".join((document.id, content_hash, configuration, *map(str, place)))
    return hashlib.sha256(key.encode("utf-8")).hexdigest()[:16]
