"""LG, the logits-guided rule: cut where the model says that the text ends.

Source: Liu, Simon, Caspani, "Passage Segmentation of Documents for Extractive Question Answering"
(arXiv 2501.09940, ECIR 2025).
"""

from __future__ import annotations

import numpy as np

from lgmgc.chunkers.method import Cut, Cuts, Window
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.table import Sentences

TIE = 1e-4
"""Scores this close, in nats, are a tie; the same text scored in another batch differs less."""

CHAIN = 32
"""Windows of text that one chain is given to follow; see `logits_guided`."""


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


def logits_guided(sentences: Sentences, chain: int = CHAIN) -> Cuts:
    """From the current sentence, read a window of θ and cut after its best sentence; repeat.

    What is left after a cut goes in front of the next window; when all that is left fits, it is
    the last parent. Every window consumes at least one sentence (law 3).

    The next cut depends on nothing but where the window starts. So a long document is followed
    from several places at once, whose windows share a batch: a chain of cuts that was started too
    early falls in with the one before it as soon as both cut after the same sentence, and from
    there on they are one. What a chain read before that is lost, in practice one to three windows
    of `CHAIN`. The cuts are those of a single chain from the first sentence.

    Args:
        sentences: the document's; their limits are θ and the model's context.
        chain: windows of text per chain; 0 follows one chain only.

    Yields:
        The windows to score, one for each chain still on its way.

    Returns:
        The cuts in order.
    """
    count = len(sentences)
    following: dict[int, Cut] = {}  # from the first sentence of a window to the cut it led to
    heads = _spread(sentences, chain)
    while heads:
        windows = [Window(head, sentences.fit(head)) for head in heads]
        open_windows = [window for window in windows if window.stop < count]
        following |= {w.start: Cut(count, None) for w in windows if w.stop == count}
        if open_windows:
            for window, scores in zip(open_windows, (yield open_windows), strict=True):
                k = best(scores)
                score = float(scores[k]) if np.isfinite(scores[k]) else None
                following[window.start] = Cut(window.start + k + 1, score)
        stops = {following[head].stop for head in heads}
        heads = sorted(stop for stop in stops if stop < count and stop not in following)
    cuts = []
    position = 0
    while position < count:
        cuts.append(following[position])
        position = cuts[-1].stop
    return cuts


def _spread(sentences: Sentences, chain: int) -> list[int]:
    """The first sentences of the chains: evenly spread by size, the document's first among them."""
    if not len(sentences):
        return []
    total, limit = sentences.totals[0], sentences.limits[0].most
    chains = max(1, int(total[-1]) // (chain * limit)) if chain else 1
    marks = np.arange(chains) * (int(total[-1]) / chains)
    return sorted({0, *np.searchsorted(total, marks, side="right").tolist()} - {len(sentences)})
