"""A passage cut in three ways, without names: which is best?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from lgmgc.report.layout import Segmented

ROUNDS = 4
PARENTS = 3
"""Parents of the first method that a passage is made of, at least."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A passage as one method cuts it.

    Attributes:
        name: of the method.
        summary: what it does.
        texts: what stands between its cuts.
        scores: the boundary score at each cut; None where none is known.
    """

    name: str
    summary: str
    texts: list[str]
    scores: list[float | None]

    @property
    def mean(self) -> float | None:
        """Of the scores that are known."""
        known = [score for score in self.scores if score is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Round:
    """The same passage, cut in different ways, in an order that gives nothing away."""

    start: int
    end: int
    choices: list[Choice]


def rounds(segmented: Sequence[Segmented], scores: Mapping[int, float], theta: int) -> list[Round]:
    """Passages of a little more than θ that every method cuts, each in another way.

    Args:
        segmented: the same document by different methods; passages are whole parents of the first.
        scores: offset to boundary score.
        theta: in the unit of the sizes.

    Returns:
        At most `ROUNDS`, spread over the document.
    """
    first, text = segmented[0], segmented[0].tree.document.text
    bounds = [*first.starts, len(text)]
    passages: list[tuple[int, int]] = []
    k = 0
    while (stop := _stop(first.sizes, k, theta)) is not None:
        ways = {_inside(each, bounds[k], bounds[stop]) for each in segmented}
        differ = len(ways) == len(segmented) and () not in ways
        if differ:
            passages.append((bounds[k], bounds[stop]))
        k = stop if differ else k + 1
    chosen = {round(r * (len(passages) - 1) / max(1, ROUNDS - 1)) for r in range(ROUNDS)}
    return [_round(segmented, scores, *passages[k]) for k in sorted(chosen)] if passages else []


def _stop(sizes: Sequence[int], first: int, theta: int) -> int | None:
    """One past the last parent of a passage that begins with the given one."""
    total = 0
    for k in range(first, len(sizes)):
        total += sizes[k]
        if total > theta and k - first + 1 >= PARENTS:
            return k + 1
    return None


def _inside(segmented: Segmented, start: int, end: int) -> tuple[int, ...]:
    return tuple(cut for cut in segmented.cuts if start < cut < end)


def _round(
    segmented: Sequence[Segmented], scores: Mapping[int, float], start: int, end: int
) -> Round:
    text = segmented[0].tree.document.text
    choices = []
    for each in segmented:
        cuts = _inside(each, start, end)
        texts = [text[a:b].strip() for a, b in pairwise((start, *cuts, end))]
        choices.append(Choice(each.name, each.summary, texts, [scores.get(cut) for cut in cuts]))
    Random(f"{segmented[0].tree.document.content_hash} {start}").shuffle(choices)
    return Round(start, end, choices)
