"""From the log p of tokens to the signals of sentences: which rows are read, what they mean."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lgmgc.lm.requests import Signal
from lgmgc.lm.tokens import FIRST
from lgmgc.lm.windows import ScoreArray, TokenWindow

Places = NDArray[np.int64]


def tokens_read(window: TokenWindow) -> Places:
    """The tokens whose own log p the window's signals need, rising.

    The first token of a window has none: nothing but ρ stands before it.
    """
    read = np.zeros(len(window.ids), bool)
    if "loss" in window.signals:
        read[: window.ends[-1]] = True
    if "surprise" in window.signals:
        for start, end in _openings(window):
            read[start:end] = True
    read[:1] = False
    return np.flatnonzero(read)


def signals_of(
    window: TokenWindow, eos: ScoreArray, log_p: ScoreArray, topic: ScoreArray | None
) -> ScoreArray:
    """Every signal of every sentence.

    Args:
        window: what was read.
        eos: shape (sentences,), log p([EOS]) after each.
        log_p: shape (length,), of each token given those before it; NaN where it was not asked for.
        topic: shape (sentences,), see `topic_shift`; None where nothing is known.

    Returns:
        Shape (signals, sentences).
    """
    begins = np.concatenate(([0], window.ends[:-1]))

    def of(signal: Signal) -> ScoreArray:
        if signal == "eos":
            return np.where(window.ends > 0, eos, np.nan)
        if signal == "loss":
            return _mean_loss(log_p, zip(begins.tolist(), window.ends.tolist(), strict=True))
        if signal == "surprise":
            expected = 0.0 if window.rarity is None else window.rarity
            return _mean_loss(log_p, _openings(window)) - expected
        return np.full(len(eos), np.nan) if topic is None else topic

    return np.stack([of(signal) for signal in window.signals])


def spans_of_sentences(window: TokenWindow) -> list[tuple[int, int]]:
    """Where each sentence's tokens lie, and last those of the sentence behind the window."""
    bounds = [0, *window.ends.tolist(), len(window.ids)]
    return list(pairwise(bounds))


def _openings(window: TokenWindow) -> list[tuple[int, int]]:
    """The first tokens of what follows each sentence: of the next one that is not blank."""
    spans = spans_of_sentences(window)
    following: list[tuple[int, int]] = []
    opening = (len(window.ids), len(window.ids))
    for start, end in reversed(spans[1:]):
        if end > start:
            opening = (start, min(end, start + FIRST))
        following.append(opening)
    return following[::-1]


def _mean_loss(log_p: ScoreArray, spans: Iterable[tuple[int, int]]) -> ScoreArray:
    out = []
    for start, end in spans:
        known = log_p[max(start, 1) : end]
        out.append(-known.mean() if len(known) else np.nan)
    return np.array(out, float)
