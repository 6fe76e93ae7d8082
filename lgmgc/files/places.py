"""Where pages and headings are, as far as the rows of a document tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from lgmgc.document import Heading


def pages_of(found: Sequence[tuple[int, int, tuple[int, int]]]) -> tuple[int, ...]:
    """Where each page begins, as early as chunks allow it.

    Every chunk then lies on the pages it was found on, whatever the true beginnings are.

    Args:
        found: the start and end of each chunk, with the first and last page it lies on.

    >>> pages_of([(0, 10, (1, 1)), (10, 20, (1, 3))])
    (0, 11, 11)
    """
    bounds = [0] * (1 + max((last for _, _, (_, last) in found), default=0))
    for start, end, (first, last) in found:
        bounds[first] = max(bounds[first], start + 1)
        bounds[last] = max(bounds[last], start + 1, end)
    return tuple(accumulate(bounds[:-1], max))


def headings_of(found: Iterable[tuple[int, Sequence[str]]]) -> tuple[Heading, ...]:
    """Headings under which chunks stand as they were found, each where the first such chunk begins.

    Args:
        found: the start of each chunk, and the titles it stands under, outermost first.

    >>> headings = headings_of([(0, ["A"]), (5, ["A", "B"]), (9, ["A"])])
    >>> [(each.start, each.level, each.title) for each in headings]
    [(0, 1, 'A'), (5, 2, 'B'), (9, 1, 'A')]
    """
    headings: list[Heading] = []
    above: Sequence[str] = ()
    for start, titles in sorted(found, key=lambda each: each[0]):
        if list(titles) == list(above):
            continue
        # At least the innermost is new: it stands there again where an outer one ends another.
        new = min(_common(above, titles), len(titles) - 1)
        headings += [
            Heading(start, depth + 1, titles[depth]) for depth in range(max(0, new), len(titles))
        ]
        above = titles
    return tuple(headings)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    for k, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return k
    return min(len(left), len(right))
