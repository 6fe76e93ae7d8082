"""What a method is: a generator for one document that asks models and returns parents."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.requests import Request
from lgmgc.text.table import Sentences


class View(NamedTuple):
    """A text that stands for the span ``[start, end)`` when it is searched for."""

    start: int
    end: int
    text: str


class Parent(NamedTuple):
    """A parent to be: its span in code points, and what the method knows of it.

    Attributes:
        start: first code point.
        end: one past the last.
        score: the boundary score at ``end``, if there is one.
        window: the larger span to read where it is found; None: itself.
        views: further texts by which it is found.
    """

    start: int
    end: int
    score: float | None = None
    window: tuple[int, int] | None = None
    views: tuple[View, ...] = ()


class Segmentation(NamedTuple):
    """What a method makes of a document.

    Attributes:
        parents: in order; they tile the text (law 1), unless the method is made to overlap.
        retries: answers of a model that were asked for again.
        fallbacks: places where no answer could be used and the method went on without.
    """

    parents: list[Parent]
    retries: int = 0
    fallbacks: int = 0


Cutting = Generator[Sequence[Request], Sequence[Any], Segmentation]
"""Yields requests, is sent their answers in order, and returns the parents.

A method never sees a model; who drives it decides on batches.
"""

Needs = Literal["scorer", "writer", "embedder"]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make parents.

    Attributes:
        name: as on the command line.
        summary: one line.
        cost: what it asks of the machine, in a few words.
        cut: makes the parents of one document.
        needs: the models that it asks.
        options: the names of the `Options` that it reads.
        children: children of level 1, 2 … have at most θ divided by these, unless others are
            asked for.
        long: whether windows are as long as pays, instead of θ.
        check: refuses options that do not go together, before anything is read.
    """

    name: str
    summary: str
    cost: str
    cut: Callable[[Sentences, Options, Document], Cutting]
    needs: tuple[Needs, ...] = ()
    options: tuple[str, ...] = ()
    children: tuple[int, ...] = ()
    long: bool = False
    check: Callable[[Options], object] | None = None


def parents(
    sentences: Sentences, stops: Sequence[int], scores: Sequence[float | None] = ()
) -> list[Parent]:
    """Parents that end with the given sentences.

    Args:
        sentences: the document's.
        stops: rising: one past the last sentence of each parent; the last is all of them.
        scores: the boundary score at each end; empty for none.
    """
    ends = [int(sentences.bounds[stop]) for stop in stops]
    starts = [0, *ends][:-1]
    return [
        Parent(start, end, score)
        for start, end, score in zip(starts, ends, scores or [None] * len(ends), strict=True)
    ]
