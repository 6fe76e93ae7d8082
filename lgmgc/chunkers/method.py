"""What a method is: a generator for one document that yields windows and returns cuts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lgmgc.lm.windows import ScoreArray
from lgmgc.text.table import Sentences


class Window(NamedTuple):
    """The sentences from ``start`` up to, not including, ``stop``, to be scored in one pass."""

    start: int
    stop: int


class Cut(NamedTuple):
    """A parent's end: one past its last sentence, and the boundary score there if there is one."""

    stop: int
    score: float | None


Cuts = Generator[list[Window], Sequence[ScoreArray], list[Cut]]
"""Yields windows, is sent the scores of each, and returns the cuts that tile the sentences.

A method never sees a tensor; who drives it decides on batches.
"""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make parents, and the parts of θ that children are made of.

    Attributes:
        name: as on the command line.
        summary: one line.
        cut: makes the parents of one document.
        parts: children of level 1, 2 … have at most θ divided by these.
        scored: whether a language model is needed.
    """

    name: str
    summary: str
    cut: Callable[[Sentences], Cuts]
    parts: tuple[int, ...] = ()
    scored: bool = True
