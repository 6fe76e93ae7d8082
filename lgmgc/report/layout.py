"""Trees to what stands on a page: rows that methods share, parents, and rules between children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lgmgc.document import Chunk, Tree


class Piece(NamedTuple):
    """Text up to a boundary of children, the white space there, and the boundary's level.

    ``level`` is 0 behind the last piece of a parent.
    """

    text: str
    space: str
    level: int


@dataclass(frozen=True, slots=True)
class Segmented:
    """A document cut by one method.

    Attributes:
        name: of the method.
        summary: what it does, in one line.
        tree: what it made.
        sizes: of each parent, in the unit of θ.
    """

    name: str
    summary: str
    tree: Tree
    sizes: Sequence[int]
    starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", shown_from(self.tree))

    @property
    def cuts(self) -> list[int]:
        """Where the text is cut, in code points: behind every parent but the last."""
        return self.starts[1:]


def shown_from(tree: Tree) -> list[int]:
    """Where each parent's text begins on the page: what the one before showed is not repeated."""
    starts, reached = [], 0
    for parent in tree.parents:
        starts.append(max(parent.start, reached))
        reached = max(reached, parent.end)
    return starts


def shared_rows(segmented: Sequence[Segmented]) -> list[list[range]]:
    """Parents in rows: a row begins where all methods cut, so that the same text stands beside.

    Returns:
        For each row, the numbers of each method's parents in it, from 0.

    >>> from lgmgc.document import Document
    >>> def cut(*bounds):
    ...     d = Document("a", "x" * bounds[-1])
    ...     spans = zip(bounds, bounds[1:])
    ...     return Segmented("", "", Tree(d, tuple(Chunk(d, "", 0, a, b, 1) for a, b in spans)), [])
    >>> shared_rows([cut(0, 2, 4, 9), cut(0, 4, 6, 7, 9)])
    [[range(0, 2), range(0, 1)], [range(2, 3), range(1, 4)]]
    """
    common = set(segmented[0].starts).intersection(*(each.starts for each in segmented))
    marks = [
        [k for k, start in enumerate(each.starts) if start in common] + [len(each.starts)]
        for each in segmented
    ]
    rows = len(marks[0]) - 1
    return [[range(mark[row], mark[row + 1]) for mark in marks] for row in range(rows)]


def pieces(parent: Chunk, start: int) -> list[Piece]:
    r"""A parent's text, divided where its children end.

    Put together, texts and white spaces are the text from ``start`` to the parent's end.

    Args:
        parent: with its children; those found by a view are left out, as they may overlap.
        start: where its text begins on the page.

    >>> from lgmgc.document import Document
    >>> d = Document("a", "One. Two. Three.\n")
    >>> children = tuple(Chunk(d, "", 1, a, b, 1) for a, b in ((0, 10), (10, 17)))
    >>> pieces(Chunk(d, "", 0, 0, 17, 3, children=children), 0)
    [Piece(text='One. Two.', space=' ', level=1), Piece(text='Three.', space='\n', level=0)]
    """
    levels: dict[int, int] = {}
    for child in parent.children:
        if child.view is None and start < child.end < parent.end:
            levels[child.end] = min(child.level, levels.get(child.end, child.level))
    text, found = parent.document.text, []
    for end in [*sorted(levels), parent.end]:
        whole = text[start:end]
        kept = whole.rstrip()
        found.append(Piece(kept, whole[len(kept) :], levels.get(end, 0)))
        start = end
    return found


def beginning(text: str, most: int = 60) -> str:
    """The first words of a text, on one line, without the marks of a Markdown heading.

    >>> beginning("# One two  three.", 9), beginning("One.")
    ('One two…', 'One.')
    """
    words = text[: 4 * most].strip().lstrip("#").split()
    line = " ".join(words)
    if len(line) <= most:
        return line
    return f"{line[:most].rpartition(' ')[0] or line[:most]}…"
