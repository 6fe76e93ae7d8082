"""Signals made comparable: their drift along a window taken out, their spread brought to one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lgmgc.chunkers.options import Options
from lgmgc.lm.requests import Window
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Sentences

SAMPLE = 16
"""Windows that the greedy rule reads beforehand, spread over the document."""


class Calibration(NamedTuple):
    """How one document's signals are added.

    Attributes:
        slopes: shape (signals,): what each gains with log(1 + place in the window).
        weights: shape (signals,): what each is multiplied by.
    """

    slopes: ScoreArray
    weights: ScoreArray

    def combine(self, signals: ScoreArray, places: IntArray) -> ScoreArray:
        """Add the signals.

        Args:
            signals: shape (signals, sentences).
            places: shape (sentences,): each sentence's place in its window, from 0.

        Returns:
            Shape (sentences,); NaN where one of the signals is.
        """
        flat = signals - np.outer(self.slopes, np.log1p(places))
        total: ScoreArray = (self.weights[:, None] * flat).sum(0)
        return total


def calibrate(signals: ScoreArray, places: IntArray, drift: bool, unit: bool) -> Calibration:
    """Learn from the document's own scores.

    Args:
        signals: shape (signals, sentences); what is not finite is left out.
        places: shape (sentences,).
        drift: whether slopes are taken out, by least squares; else they are 0.
        unit: whether every signal's standard deviation is made 1; else the weights are 1.

    >>> calibrate(np.array([[1.0, 3.0], [0.0, 20.0]]), np.arange(2), False, True).weights.tolist()
    [1.0, 0.1]
    """
    slopes, weights = np.zeros(len(signals)), np.ones(len(signals))
    steps = np.log1p(places)
    for k, row in enumerate(signals):
        known = np.isfinite(row)
        if known.sum() < 2:
            continue
        values, at = row[known], steps[known]
        if drift and at.std() > 0:
            slopes[k] = np.cov(at, values, bias=True)[0, 1] / at.var()
        spread = (values - slopes[k] * at).std()
        if unit and spread > 0:
            weights[k] = 1 / spread
    return Calibration(slopes, weights)


def sampled(
    sentences: Sentences, options: Options
) -> Generator[list[Window], Sequence[Any], Calibration]:
    """Calibrate on windows of θ spread evenly over the document.

    A single signal without drift needs no calibration, and nothing is read for it.
    """
    single = len(options.signals) == 1
    if single and not options.drift:
        return Calibration(np.zeros(1), np.ones(1))
    windows = []
    position = 0
    while position < len(sentences):
        windows.append(Window(position, sentences.fit(position), options.signals))
        position = windows[-1].stop
    chosen = np.unique(np.linspace(0, len(windows) - 1, SAMPLE).round().astype(int))
    answers = (yield [windows[k] for k in chosen]) if windows else [np.zeros((1, 0))]
    places = np.concatenate([np.arange(answer.shape[1]) for answer in answers])
    return calibrate(np.concatenate(answers, axis=1), places, options.drift, unit=not single)
