"""What a scorer is given: windows of token ids and the places to read a score at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TokenArray = NDArray[np.int32]
ScoreArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A run of sentences as token ids.

    Attributes:
        ids: shape (length,), without ρ.
        ends: shape (sentences,), never falling; the tokens up to the end of each sentence, so that
            its score stands at position ``ends - 1``. 0 where nothing but white space came before.
    """

    ids: TokenArray
    ends: NDArray[np.int64]


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
        """The boundary score log p([EOS]) after every sentence of every window, in one batch.

        Raises:
            OutOfMemoryError: the batch is too large for the device.
        """
        ...
