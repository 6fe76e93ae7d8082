"""One scheduler drives the methods of many documents and fills the models' batches from them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from lgmgc.errors import DocumentError, ModelError
from lgmgc.lm.requests import Choice, Embedding, Request, Window, Writing
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import (
    BoundaryScorer,
    OutOfMemoryError,
    ScoreArray,
    TextEmbedder,
    TextWriter,
    TokenWindow,
)

Result = TypeVar("Result")

ROUND = 4
"""Documents are opened until this many batches' worth of windows wait."""
IN_FLIGHT = 256
"""Documents open, or finished but not yet handed on: what bounds memory (law 5)."""


@dataclass(slots=True)
class Job(Generic[Result]):
    """One document under way.

    Attributes:
        method: yields requests, is sent their answers, returns a result.
        tokens: the document's tokens; None where the method asks for no windows.
        unread: shape (sentences,), true until a request was about the sentence.
        result: what the method returned.
        error: why it could not.
    """

    method: Generator[Sequence[Request], Sequence[Any], Result]
    tokens: DocumentTokens | None
    unread: NDArray[np.bool_]
    waiting: list[TokenWindow | Choice | Writing | Embedding] = field(
        default_factory=list, init=False
    )
    answers: list[Any] = field(default_factory=list, init=False)
    result: Result | None = field(default=None, init=False)
    error: DocumentError | None = field(default=None, init=False)

    def advance(self) -> int:
        """Send the answers, if anything was asked for, and take the next requests or the result.

        Returns:
            The sentences that are read now and were not before.
        """
        try:
            requests = self.method.send(self.answers) if self.waiting else next(self.method)
        except (StopIteration, DocumentError) as end:
            self.waiting, self.answers = [], []
            if isinstance(end, DocumentError):
                self.error = end
            else:
                self.result = end.value
            spans = [(0, len(self.unread))]
        else:
            self.waiting = [
                self._window(request) if isinstance(request, Window) else request
                for request in requests
            ]
            self.answers = [None] * len(requests)
            spans = [(request.start, request.stop) for request in requests]
        news = 0
        for start, stop in spans:
            news += int(np.count_nonzero(self.unread[start:stop]))
            self.unread[start:stop] = False
        return news

    def _window(self, request: Window) -> TokenWindow:
        assert self.tokens is not None, "the method asks for scores and has no model"
        return self.tokens.window(request.start, request.stop, request.signals)


@dataclass(frozen=True, slots=True)
class Models:
    """What answers requests; None where no method asks for it.

    Attributes:
        scorer: windows.
        writer: writings and choices.
        embedder: embeddings.
    """

    scorer: BoundaryScorer | None = None
    writer: TextWriter | None = None
    embedder: TextEmbedder | None = None


class Scheduler:
    """Answers the requests of many jobs together.

    Attributes:
        models: what answers.
        batch_tokens: the budget of a batch, windows times the longest one's tokens; when the
            device runs out of memory, half of what the batch cost, from then on.
    """

    def __init__(self, models: Models, batch_tokens: int) -> None:
        self.models = models
        self.batch_tokens = batch_tokens

    def run(
        self,
        jobs: Iterable[Job[Result] | None],
        progress: Callable[[Job[Result], int], None] = lambda job, sentences: None,
    ) -> Iterator[Job[Result]]:
        """Drive the jobs to their results, and hand them on in the order they came in.

        Args:
            jobs: taken from only as far as batches need; None says that there is none for now.
            progress: told how many sentences of a job were read for the first time.

        Raises:
            ModelError: a single window does not fit in the device's memory.
        """
        source = iter(jobs)
        line: deque[Job[Result]] = deque()
        more = True
        while more or line:
            while more and len(line) < IN_FLIGHT and not self._enough(line):
                try:
                    job = next(source)
                except StopIteration:
                    more = False
                    break
                if job is None:
                    break
                progress(job, job.advance())
                line.append(job)
                # At once: a method without a model is done here, and must not be held back.
                while line and not line[0].waiting:
                    yield line.popleft()
            while line and not line[0].waiting:
                yield line.popleft()
            busy = [job for job in line if job.waiting]
            self._score_all(busy)
            self._embed_all(busy)
            for job in busy:
                self._write_all(job)
                progress(job, job.advance())

    def _enough(self, line: Iterable[Job[Result]]) -> bool:
        waiting = (self._cost(request) for job in line for request in job.waiting)
        return sum(waiting) >= ROUND * self.batch_tokens

    def _cost(self, request: TokenWindow | Choice | Writing | Embedding) -> int:
        """What a request is of a batch, roughly; writing is slow and not batched."""
        if isinstance(request, TokenWindow):
            return len(request.ids)
        if isinstance(request, Embedding):
            return sum(map(len, request.texts)) // 4
        return self.batch_tokens

    def _score_all(self, jobs: Sequence[Job[Result]]) -> None:
        """Score every waiting window, windows of near-equal length together."""
        places = [
            (job, k, request)
            for job in jobs
            for k, request in enumerate(job.waiting)
            if isinstance(request, TokenWindow)
        ]
        places.sort(key=lambda place: -len(place[2].ids))
        lengths = [len(window.ids) for _, _, window in places]
        start = 0
        while start < len(places):
            # One batch at a time: running out of memory lowers the budget of the next.
            size = next(batch_sizes(lengths[start:], self.batch_tokens))
            batch = places[start : start + size]
            scored = self._score([window for _, _, window in batch])
            for (job, k, _), scores in zip(batch, scored, strict=True):
                job.answers[k] = scores
            start += size

    def _embed_all(self, jobs: Sequence[Job[Result]]) -> None:
        """Embed every waiting text of every job in one call; the embedder makes the batches."""
        places = [
            (job, k, request)
            for job in jobs
            for k, request in enumerate(job.waiting)
            if isinstance(request, Embedding)
        ]
        if places:
            assert self.models.embedder is not None, "the method asks for vectors, without embedder"
            vectors = self.models.embedder.passages(
                [text for _, _, request in places for text in request.texts]
            )
            start = 0
            for job, k, request in places:
                job.answers[k] = vectors[start : start + len(request.texts)]
                start += len(request.texts)

    def _write_all(self, job: Job[Result]) -> None:
        for k, request in enumerate(job.waiting):
            if isinstance(request, Writing | Choice):
                writer = self.models.writer
                assert writer is not None, "the method asks for writing, without a writer"
                if isinstance(request, Writing):
                    job.answers[k] = writer.write(request.instruction, request.most)
                else:
                    job.answers[k] = writer.weigh(
                        request.instruction, request.begin, request.options
                    )

    def _score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        assert self.models.scorer is not None, "the method asks for scores, without a scorer"
        try:
            return self.models.scorer.score(windows)
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
