"""What a scorer is given: windows of token ids and the places to read a score at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lgmgc.lm.requests import Signal

TokenArray = NDArray[np.int32]
ScoreArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A run of sentences as token ids.

    Attributes:
        ids: shape (length,), without ρ. What stands behind the last end is the beginning of the
            next sentence, for signals that look ahead.
        ends: shape (sentences,), never falling; the tokens up to the end of each sentence, so that
            its score stands at position ``ends - 1``. 0 where nothing but white space came before.
        signals: what to read.
        rarity: shape (sentences,), nats a token: how rare in the document the tokens are by which
            surprise is told; None where it is not asked for.
    """

    ids: TokenArray
    ends: NDArray[np.int64]
    signals: tuple[Signal, ...] = ("eos",)
    rarity: ScoreArray | None = None


class OutOfMemoryError(Exception):
    """A batch was too large for the device; a smaller one may do."""


class Encoder(Protocol):
    """Texts to token ids."""

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text by itself, without special tokens, and none found in the text."""
        ...


class BoundaryScorer(Protocol):
    """A loaded causal language model that turns windows into boundary scores."""

    @property
    def encode(self) -> Encoder:
        """The model's tokenizer."""
        ...

    @property
    def context(self) -> int:
        """How many tokens of text one window may hold."""
        ...

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        """Every signal asked for of every sentence of every window, in one batch.

        Returns:
            For each window, shape (signals, sentences).

        Raises:
            OutOfMemoryError: the batch is too large for the device.
        """
        ...


class TextWriter(Protocol):
    """A language model that writes, or weighs what it might write."""

    def write(self, instruction: str, most: int) -> str:
        """What the model writes, of at most so many tokens."""
        ...

    def weigh(self, instruction: str, begin: str, options: Sequence[str]) -> ScoreArray:
        """The log p of each way to go on after ``begin``, shape (options,)."""
        ...


class TextEmbedder(Protocol):
    """A model that turns texts into unit vectors."""

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, dimensions)."""
        ...
