"""What one method or another can be told, beside θ."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from lgmgc.errors import UsageError
from lgmgc.lm.requests import Signal

Breakpoint = Literal["percentile", "deviation", "gradient"]
Reader = Literal["generate", "logits"]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of all methods; each reads those that its `Method` names.

    Attributes:
        overlap: how much of a chunk the next one repeats, in the unit of θ.
        signal: what tells a boundary: ``eos`` (the paper's), ``surprise``, ``topic``, or a sum of
            them such as ``eos+surprise``, each divided by its deviation within the document.
        drift: whether the trend of a signal along its window is taken out before the maximum is
            looked for. A chat model's end-of-turn score falls with the distance from the window's
            beginning, which makes tiny parents.
        least: the least that a parent holds where the choice is free, in the unit of θ.
        target: the mean size to aim for, in the unit of θ; 0 for two thirds of θ.
        strength: how much a boundary's score counts beside the target.
        breakpoint: which distances are breaks: beyond a percentile, beyond a number of standard
            deviations over the mean, or where the percentile of their gradient lies.
        threshold: the percentile or number of deviations; for ``perplexity`` the depth of a
            minimum in nats a token. None for the method's own.
        group: tokens of the paragraphs that are put before the model at once.
        reader: ``generate``: the model writes its answer; ``logits``: the answers are weighed.
        propositionizer: whether the model is one that was trained to write propositions, and reads
            passages in the published format (a T5).
        like: the method whose sizes are drawn from.
        seed: of what is drawn.
        boundaries: JSON lines with ``document``, ``start`` and ``end`` of spans.
        marker: a line of the text after which a chunk ends.

    Raises:
        UsageError: a value that cannot be.
    """

    overlap: int = 0
    signal: str = "eos"
    drift: bool = False
    least: int = 0
    target: int = 0
    strength: float = 1.0
    breakpoint: Breakpoint = "percentile"
    threshold: float | None = None
    group: int = 550
    reader: Reader = "generate"
    propositionizer: bool = False
    like: str = "sentences"
    seed: int = 0
    boundaries: Path | None = None
    marker: str | None = None

    def __post_init__(self) -> None:
        for name in ("overlap", "least", "target", "strength"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise UsageError(f"{name} is {value}; it cannot be below 0 or infinite")
        if self.group < 1:
            raise UsageError(f"group is {self.group}; it needs at least 1")
        if self.breakpoint not in get_args(Breakpoint):
            raise UsageError(f"breakpoint {self.breakpoint!r} is none of {_listed(Breakpoint)}")
        if self.reader not in get_args(Reader):
            raise UsageError(f"reader {self.reader!r} is none of {_listed(Reader)}")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise UsageError(f"threshold is {self.threshold}; it must be a number")
        if not self.signals or set(self.signals) - {"eos", "surprise", "topic"}:
            raise UsageError(
                f"signal {self.signal!r} is none of eos, surprise, topic, or a sum such as "
                "eos+surprise"
            )

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The parts of ``signal``, each once.

        >>> Options(signal="surprise+eos").signals
        ('surprise', 'eos')
        """
        return tuple(dict.fromkeys(self.signal.split("+")))  # type: ignore[arg-type]

    @property
    def changed(self) -> tuple[str, ...]:
        """The names of those that differ from the default."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != f.default)


def _listed(choices: object) -> str:
    return ", ".join(get_args(choices))
