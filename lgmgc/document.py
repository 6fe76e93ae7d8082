"""Document, chunk and tree: spans over unchanged text."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from lgmgc.errors import DocumentError

if TYPE_CHECKING:
    from rich.text import Text as RichText


@dataclass(frozen=True, slots=True)
class Heading:
    """A title in a document.

    Attributes:
        start: first code point of the line that it stands on.
        level: 1 for the outermost, as in HTML.
        title: its text.
    """

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    r"""An id, a text that is never altered, and metadata that is carried along.

    Attributes:
        id: how outputs name the document; the command line uses the path as it was given.
        text: Unicode code points. A lone surrogate (half of a UTF-16 pair, which no file encoding
            can hold) is refused, because neither the tokenizer nor an output could keep it.
        metadata: anything; not read by any chunker.
        pages: where each page begins, rising, in code points; empty where there are no pages.
        headings: in the order of the text.

    Raises:
        DocumentError: the text holds a lone surrogate.

    >>> Document("a", "One. Two.").content_hash[:8]
    '668b4fb6'
    """

    id: str
    text: str
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)
    pages: tuple[int, ...] = field(default=(), repr=False, compare=False)
    headings: tuple[Heading, ...] = field(default=(), repr=False, compare=False)

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

    @property
    def pages(self) -> tuple[int, int] | None:
        """The first and the last page it lies on, counted from 1; None where there are no pages.

        >>> document = Document("a", "One. Two.", pages=(0, 5))
        >>> Chunk(document, "", 0, 0, 5, 1).pages, Chunk(document, "", 0, 4, 9, 1).pages
        ((1, 1), (1, 2))
        """
        pages = self.document.pages
        if not pages:
            return None
        first = bisect_right(pages, self.start)
        return max(1, first), max(1, bisect_right(pages, max(self.start, self.end - 1)))

    @property
    def headings(self) -> tuple[str, ...]:
        r"""The titles it stands under where it begins, outermost first.

        >>> titles = (Heading(0, 1, "A"), Heading(4, 2, "B"), Heading(8, 1, "C"))
        >>> document = Document("a", "# A\nb\n\n# C", headings=titles)
        >>> [Chunk(document, "", 0, start, start + 1, 1).headings for start in (2, 5, 8)]
        [('A',), ('A', 'B'), ('C',)]
        """
        known = self.document.headings
        path: list[Heading] = []
        k = bisect_right(known, self.start, key=lambda heading: heading.start)
        while k and (not path or path[-1].level > 1):
            k -= 1
            if not path or known[k].level < path[-1].level:
                path.append(known[k])
        return tuple(heading.title for heading in reversed(path))


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

    def _repr_html_(self) -> str:
        """For notebooks; see `lgmgc.show_tree`."""
        from lgmgc.show_tree import as_html

        return as_html(self)

    def __rich__(self) -> RichText:
        """For `rich.print`; see `lgmgc.show_tree`."""
        from lgmgc.show_tree import as_rich

        return as_rich(self)


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
