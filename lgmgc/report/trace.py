"""What a model answered while a method cut: the score of every candidate, not of the cuts only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lgmgc.chunkers.global_rule import standardised
from lgmgc.chunkers.method import Cutting, Method
from lgmgc.chunkers.options import Options
from lgmgc.document import Document, Tree
from lgmgc.lm.requests import Signal, Window
from lgmgc.lm.windows import ScoreArray
from lgmgc.text.table import Sentences

LABELS: dict[tuple[str, ...], str] = {
    ("eos",): "log p([EOS])",
    ("surprise",): "surprise of what follows",
    ("topic",): "change of topic",
    ("loss",): "loss of the sentence",
}
"""What a curve of one signal shows."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Boundary scores along a document.

    Attributes:
        label: what they are.
        at: code point offset to score, rising; finite scores only.
        candidates: whether every sentence end that a model was asked about is there, or the cuts
            only.
    """

    label: str
    at: dict[int, float]
    candidates: bool


@dataclass(slots=True)
class Trace:
    """The windows that a method read of one document, in the order of their answers."""

    windows: list[tuple[list[int], ScoreArray]] = field(default_factory=list)
    signals: tuple[Signal, ...] = ()

    def scores(self, tree: Tree, first: bool) -> Scores | None:
        """The score of every sentence end that was asked about, as it decided.

        A sentence end may be read in several windows. Under the greedy rule the window that begins
        with a parent decided that parent's end, whatever was read later by chains of cuts that were
        given up; so these windows come last. Several signals are standardised and added.

        Args:
            tree: what was made.
            first: the earliest reading counts, as in methods of long windows.

        Returns:
            None where nothing was asked.
        """
        found: dict[int, ScoreArray] = {}
        for ends, answer in self._ordered(tree, first):
            for end, values in zip(ends, answer.T, strict=True):
                if not first or end not in found:
                    found[end] = values
        if not found:
            return None
        table = np.array([found[end] for end in sorted(found)])
        if table.shape[1] > 1:
            table = np.stack([standardised(signal) for signal in table.T], axis=1)
        pairs = zip(sorted(found), table.sum(1).tolist(), strict=True)
        label = LABELS.get(self.signals, f"{' + '.join(self.signals)}, standardised")
        return Scores(label, {end: value for end, value in pairs if np.isfinite(value)}, True)

    def _ordered(self, tree: Tree, first: bool) -> Iterator[tuple[list[int], ScoreArray]]:
        starts = {parent.start for parent in tree.parents}
        decided = [] if first else [window for window in self.windows if window[0][0] in starts]
        decided.sort(key=lambda window: window[0][0])
        for ends, answer in [*self.windows, *decided]:
            yield ends[1:], answer


def traced(method: Method) -> tuple[Method, Trace]:
    """The same method, and a record of what it is answered while it cuts one document."""
    trace = Trace()

    def cut(sentences: Sentences, options: Options, document: Document) -> Cutting:
        cutting = method.cut(sentences, options, document)
        answers: Sequence[Any] | None = None
        while True:
            try:
                requests = next(cutting) if answers is None else cutting.send(answers)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answers = yield requests
            for request, answer in zip(requests, answers or (), strict=True):
                if isinstance(request, Window):
                    trace.signals = request.signals
                    bounds = sentences.bounds[request.start : request.stop + 1]
                    trace.windows.append((bounds.tolist(), np.asarray(answer, np.float64)))

    return replace(method, cut=cut), trace


def scores_of_cuts(tree: Tree, label: str) -> Scores | None:
    """What the parents themselves know; None where no model scored any."""
    known = {p.end: float(p.score) for p in tree.parents if p.score is not None}
    finite = {end: score for end, score in known.items() if np.isfinite(score)}
    return Scores(label, finite, False) if finite else None
