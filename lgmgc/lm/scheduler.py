"""One scheduler drives the methods of many documents and fills the model's batches from them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from lgmgc.errors import ModelError
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import BoundaryScorer, OutOfMemoryError, ScoreArray, TokenWindow

Result = TypeVar("Result")

ROUND = 4
"""Documents are opened until this many batches' worth of windows wait."""
IN_FLIGHT = 256
"""Documents open, or finished but not yet handed on: what bounds memory (law 5)."""


@dataclass(slots=True)
class Job(Generic[Result]):
    """One document under way.

    Attributes:
        method: yields runs of sentences ``(start, stop)``, is sent their scores, returns a result.
        tokens: the document's tokens; None where the method asks for no scores.
        unread: shape (sentences,), true until a window has held the sentence.
    """

    method: Generator[Sequence[tuple[int, int]], Sequence[ScoreArray], Result]
    tokens: DocumentTokens | None
    unread: NDArray[np.bool_]
    waiting: list[TokenWindow] = field(default_factory=list, init=False)
    scores: list[ScoreArray] = field(default_factory=list, init=False)
    result: Result | None = field(default=None, init=False)

    def advance(self) -> int:
        """Send the scores, if any were asked for, and take the next windows or the result.

        Returns:
            The sentences that are read now and were not before.
        """
        try:
            runs = self.method.send(self.scores) if self.waiting else next(self.method)
        except StopIteration as end:
            self.result, self.waiting, self.scores = end.value, [], []
            runs = [(0, len(self.unread))]
        else:
            assert self.tokens is not None, "the method asks for scores and has no model"
            self.waiting = [self.tokens.window(start, stop) for start, stop in runs]
            self.scores = [np.zeros(0)] * len(runs)
        news = 0
        for start, stop in runs:
            news += int(np.count_nonzero(self.unread[start:stop]))
            self.unread[start:stop] = False
        return news


class Scheduler:
    """Scores the windows of many jobs together.

    Attributes:
        scorer: None where no method needs one.
        batch_tokens: the budget of a batch, windows times the longest one's tokens; when the
            device runs out of memory, half of what the batch cost, from then on.
    """

    def __init__(self, scorer: BoundaryScorer | None, batch_tokens: int) -> None:
        self.scorer = scorer
        self.batch_tokens = batch_tokens

    def run(
        self,
        jobs: Iterable[Job[Result]],
        progress: Callable[[Job[Result], int], None] = lambda job, sentences: None,
    ) -> Iterator[Job[Result]]:
        """Drive the jobs to their results, and hand them on in the order they came in.

        Args:
            jobs: taken from only as far as batches need.
            progress: told how many sentences of a job were read for the first time.

        Raises:
            ModelError: a single window does not fit in the device's memory.
        """
        source = iter(jobs)
        line: deque[Job[Result]] = deque()
        more = True
        while more or line:
            while more and len(line) < IN_FLIGHT and not self._enough(line):
                job = next(source, None)
                if job is None:
                    more = False
                else:
                    progress(job, job.advance())
                    line.append(job)
                    # At once: a method without a model is done here, and must not be held back.
                    while line and not line[0].waiting:
                        yield line.popleft()
            while line and not line[0].waiting:
                yield line.popleft()
            busy = [job for job in line if job.waiting]
            self._score_all(busy)
            for job in busy:
                progress(job, job.advance())

    def _enough(self, line: Iterable[Job[Result]]) -> bool:
        waiting = sum(len(window.ids) for job in line for window in job.waiting)
        return waiting >= ROUND * self.batch_tokens

    def _score_all(self, jobs: Sequence[Job[Result]]) -> None:
        """Score every waiting window, windows of near-equal length together."""
        places = [(job, k) for job in jobs for k in range(len(job.waiting))]
        places.sort(key=lambda place: -len(place[0].waiting[place[1]].ids))
        lengths = [len(job.waiting[k].ids) for job, k in places]
        start = 0
        while start < len(places):
            # One batch at a time: running out of memory lowers the budget of the next.
            size = next(batch_sizes(lengths[start:], self.batch_tokens))
            batch = places[start : start + size]
            scored = self._score([job.waiting[k] for job, k in batch])
            for (job, k), scores in zip(batch, scored, strict=True):
                job.scores[k] = scores
            start += size

    def _score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        assert self.scorer is not None
        try:
            return self.scorer.score(windows)
        except OutOfMemoryError:
            if len(windows) == 1:
                raise ModelError(
                    f"a single window of {len(windows[0].ids)} tokens does not fit in memory; "
                    "choose a smaller --theta, a smaller model or --precision int4"
                ) from None
        # Outside the handler, so that what the failed batch held is free before the next try.
        cost = len(windows) * max(len(window.ids) for window in windows)
        self.batch_tokens = max(1, min(self.batch_tokens, cost // 2))
        half = len(windows) // 2
        return self._score(windows[:half]) + self._score(windows[half:])


def batch_sizes(lengths: Sequence[int], budget: int) -> Iterator[int]:
    """Cut a falling list of lengths into the fewest batches within a budget, evenly filled.

    A batch costs its number of windows times its longest one; a window longer than the budget is
    a batch of its own.

    Args:
        lengths: tokens of each window, longest first.
        budget: token places of a batch.

    Yields:
        The number of windows of each batch.

    >>> list(batch_sizes([5, 5, 5, 5, 5, 5], 20)), list(batch_sizes([30, 4, 4, 4, 3, 3], 12))
    ([3, 3], [1, 3, 2])
    """
    left = len(lengths)
    while left:
        first = len(lengths) - left
        fits = max(1, budget // max(1, lengths[first]))
        # What is left, spread evenly over the batches it needs, if all were as long as this one.
        size = math.ceil(left / math.ceil(left / fits))
        yield size
        left -= size
