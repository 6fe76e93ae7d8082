"""The topic signal: how much what a model makes of a text turns between two sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lgmgc.lm.windows import ScoreArray

DEPTH = 2 / 3
"""Of the layers."""
SIDE = 3
"""Sentences before and after a place that are compared."""
TINY = 1e-12
"""A direction is no direction where it is shorter than that, squared."""


class Depth:
    """What a layer two thirds up puts out, when it is asked to be kept.

    Attributes:
        hidden: shape (rows, columns, hidden) of the last pass; None where it was not kept.
    """

    def __init__(self, backbone: torch.nn.Module, layers: int) -> None:
        """Find the layer.

        Args:
            backbone: holds its layers in one list, as transformers' decoders do.
            layers: how many they are.
        """
        self.keep = False
        self.hidden: torch.Tensor | None = None
        found = (
            module
            for module in backbone.modules()
            if isinstance(module, torch.nn.ModuleList) and len(module) == layers
        )
        stack = next(found, None)
        if stack is not None:
            stack[max(0, round(DEPTH * layers) - 1)].register_forward_hook(self._take)

    def _take(self, module: torch.nn.Module, given: Any, out: Any) -> None:
        if self.keep:
            self.hidden = out[0] if isinstance(out, tuple) else out


def topic_shift(hidden: torch.Tensor, spans: Sequence[tuple[int, int]]) -> ScoreArray:
    """Minus the cosine of what the model makes of the three sentences before and the three after.

    Of each sentence the mean state is taken, less the mean over the window's sentences: what all
    states have in common, which is most of them, says nothing, and hides in a raw cosine how the
    rest turns (area under the ROC curve of Choi's boundaries 0.78 raw, 0.89 so). The window's first
    token is left out: whatever it is, models give it a state of its own, many times larger than all
    others ("attention sink").

    Args:
        hidden: shape (length, hidden), of one window.
        spans: where each sentence's tokens lie, and last those of the sentence behind the window.

    Returns:
        Shape (sentences,), in [−1, 1]; NaN where no sentence with a state stands on one side.
    """
    states = hidden.float()
    means = [states[max(start, 1) : end].mean(0) for start, end in spans]
    return shift_between(torch.stack(means).double().cpu().numpy())


def shift_between(means: NDArray[np.float64]) -> ScoreArray:
    """The same from the mean states.

    Args:
        means: shape (sentences + 1, hidden); NaN for a sentence without tokens.
    """
    known: NDArray[np.bool_] = ~np.isnan(means[:, 0])
    centred = np.where(known[:, None], means - means[known].sum(0) / max(1, known.sum()), 0.0)
    total = np.concatenate((np.zeros((1, means.shape[1])), np.cumsum(centred, 0)))
    places = np.arange(1, len(means))
    before = total[places] - total[np.maximum(places - SIDE, 0)]
    after = total[np.minimum(places + SIDE, len(means))] - total[places]
    lengths = np.sqrt((before**2).sum(1) * (after**2).sum(1))
    there = lengths > TINY
    shift = np.full(len(places), np.nan)
    shift[there] = -(before * after).sum(1)[there] / lengths[there]
    return shift
