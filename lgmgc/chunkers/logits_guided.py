"""LG, the logits-guided rule: cut where the model says that the text ends.

Source: Liu, Simon, Caspani, "Passage Segmentation of Documents for Extractive Question Answering"
(arXiv 2501.09940, ECIR 2025).
"""

from __future__ import annotations

import numpy as np

from lgmgc.chunkers.calibrate import sampled
from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.requests import Window
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.table import Sentences

TIE = 1e-4
"""Scores this close, in nats, are a tie; the same text scored in another batch differs less."""

CHAIN = 32
"""Windows of text that one chain is given to follow; see `logits_guided`."""

OVERRUN = 4
"""Windows that a chain goes on for behind the start of the next one, to fall in with it."""


def best(scores: ScoreArray) -> int:
    """The sentence to cut after: the highest score, of equals the last.

    NaN counts as −inf. The last of equals makes the longest chunk: where the model says nothing,
    the rule packs whole sentences up to θ.

    Args:
        scores: shape (sentences,), log p([EOS]) after each sentence of a window.

    >>> best(np.array([-3.0, -1.0, -2.0])), best(np.array([np.nan, -np.inf])), best(np.zeros(3))
    (1, 1, 2)
    """
    clean = np.where(np.isnan(scores), -np.inf, scores)
    return int(np.flatnonzero(clean >= clean.max() - TIE)[-1])


def logits_guided(
    sentences: Sentences, options: Options, document: Document, chain: int = CHAIN
) -> Cutting:
    """From the current sentence, read a window of θ and cut after its best sentence; repeat.

    What is left after a cut goes in front of the next window; when all that is left fits, it is
    the last parent. Every window consumes at least one sentence (law 3).

    The next cut depends on nothing but where the window starts. So a long document is followed
    from several places at once, whose windows share a batch: two chains of cuts are one from the
    first cut that they have in common, on real text within one to three windows, and what the
    later one read before that is lost. The cuts are those of a single chain from the first
    sentence. Where chains do not meet (text that repeats itself), a chain gives up a little behind
    the start of the next, and the one from the beginning goes on alone: no sentence's windows are
    read by more than three chains (law 5).

    The paper's rule reads one signal, ``eos``. Several are added after each was divided by its
    standard deviation within the document, which a sample of windows tells.

    Args:
        sentences: the document's; their limits are θ and the model's context.
        options: ``signal``, ``drift`` and ``least``.
        document: not needed.
        chain: windows of text per chain; 0 follows one chain only.

    Yields:
        The windows to score, one for each chain still on its way.
    """
    count = len(sentences)
    if not count or sentences.fit(0) == count:
        return Segmentation(parents(sentences, [count] if count else []))
    calibration = yield from sampled(sentences, options)
    following: dict[int, tuple[int, float | None]] = {}  # from a window's start to the cut it makes
    heads = _spread(sentences, chain)  # from where each chain is to where it gives up
    cuts: list[tuple[int, float | None]] = []
    position = 0
    while position < count:
        windows = [Window(head, sentences.fit(head), options.signals) for head in heads]
        following |= {w.start: (count, None) for w in windows if w.stop == count}
        windows = [window for window in windows if window.stop < count]
        for window, signals in zip(windows, (yield windows) if windows else (), strict=True):
            scores = calibration.combine(signals, np.arange(window.stop - window.start))
            k = _best_within(sentences, window, scores, options.least)
            score = float(scores[k]) if np.isfinite(scores[k]) else None
            following[window.start] = window.start + k + 1, score
        moved = sorted((following[window.start][0], heads[window.start]) for window in windows)
        while position in following:
            cuts.append(following.pop(position))
            position = cuts[-1][0]
        heads = {
            stop: end for stop, end in moved if position <= stop < end and stop not in following
        }
        if not heads and position < count:
            heads = {position: count}
    stops, scores_at = zip(*cuts, strict=True)
    return Segmentation(parents(sentences, stops, scores_at))


def _best_within(sentences: Sentences, window: Window, scores: ScoreArray, least: int) -> int:
    """The best sentence to cut after, of those that leave a parent within θ and not too small.

    A beginning of the window may, in tokens, be a little larger than the whole of it.
    """
    candidates = np.arange(len(scores))
    total = sentences.totals[0]
    large = total[window.start + 1 : window.stop + 1] - total[window.start] >= least
    if large.any():
        candidates = candidates[large]
    while True:
        place = best(scores[candidates])
        k = int(candidates[place])
        if sentences.within(window.start, window.start + k + 1):
            return k
        candidates = np.delete(candidates, place)
        if not len(candidates):
            candidates = np.flatnonzero(~large)


def _spread(sentences: Sentences, chain: int) -> dict[int, int]:
    """First sentences of chains, evenly spread by size, to the sentences at which they give up."""
    total, limit = sentences.totals[0], sentences.limits[0].most
    chains = max(1, int(total[-1]) // (chain * limit)) if chain else 1
    marks = np.arange(chains) * (int(total[-1]) / chains)
    starts = np.unique(np.searchsorted(total[:-1], marks))
    ends = np.searchsorted(total, total[starts[1:]] + OVERRUN * limit)
    return dict(zip(starts.tolist(), [*ends.tolist(), len(sentences)], strict=True))
