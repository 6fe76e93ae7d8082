"""The chunker: documents in, trees of chunks out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from lgmgc.chunkers.logits_guided import logits_guided
from lgmgc.chunkers.method import Cut, Method
from lgmgc.chunkers.multi_granular import pieces
from lgmgc.chunkers.recursive import recursive
from lgmgc.document import Chunk, Document, Tree, chunk_id
from lgmgc.errors import UsageError
from lgmgc.lm.scheduler import Job, Scheduler
from lgmgc.lm.tokens import DocumentTokens, measure_in_window
from lgmgc.text.sentences import check_language, split
from lgmgc.text.sizes import (
    Measure,
    Unit,
    count_words,
    measure_bytes,
    measure_characters,
    measure_tokens,
    measure_words,
)
from lgmgc.text.table import Limit, Sentences, tabulate

if TYPE_CHECKING:
    from lgmgc.lm.windows import BoundaryScorer

METHODS = {
    method.name: method
    for method in (
        Method("lgmgc", "cut where the model says that the text ends, with children of θ/2, θ/4",
               logits_guided, parts=(2, 4)),
        Method("lg", "cut where the model says that the text ends", logits_guided),
        Method("mg", "paragraphs merged up to θ, with children of θ/2, θ/4; no model",
               recursive, parts=(2, 4), scored=False),
    )
}  # fmt: skip
"""The methods by name."""


LARGEST = 10**12
"""θ beyond which no text can go, and below which sums of sizes cannot overflow."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the chunks, apart from the model.

    Attributes:
        method: one of `METHODS`.
        theta: θ, the most that a parent holds.
        unit: what θ counts: words, tokens (of the model's tokenizer) or characters.
        language: see `lgmgc.text.sentences.split`.

    Raises:
        UsageError: a setting that cannot be.
    """

    method: str = "lgmgc"
    theta: int = 300
    unit: Unit = "words"
    language: str = "auto"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"method {self.method!r} is none of {', '.join(METHODS)}")
        if self.unit not in get_args(Unit):
            raise UsageError(f"unit {self.unit!r} is none of {', '.join(get_args(Unit))}")
        if self.theta > LARGEST:
            raise UsageError(f"θ is {self.theta}; the largest is {LARGEST}")
        least = max((1, *METHODS[self.method].parts))
        if self.theta < least:
            children = f", for its smallest children have θ/{least}" if least > 1 else ""
            raise UsageError(f"θ is {self.theta}; {self.method} needs at least {least}{children}")
        check_language(self.language)

    @property
    def limits(self) -> tuple[int, ...]:
        """The most that a chunk of level 0, 1, 2 … holds."""
        return (self.theta, *(self.theta // part for part in METHODS[self.method].parts))


@dataclass(slots=True)
class Counts:
    """What a chunker has done so far.

    Attributes:
        documents: with the empty ones.
        parents: chunks of level 0.
        chunks: of every level.
        words: in the documents.
        sentences: with the pieces of divided ones.
        divided: sentences divided because they exceeded θ or the model's context.
        shortened: windows that the model's context made shorter than θ.
    """

    documents: int = 0
    parents: int = 0
    chunks: int = 0
    words: int = 0
    sentences: int = 0
    divided: int = 0
    shortened: int = 0


class Chunker:
    """Cuts documents by one method.

    Attributes:
        settings: what was asked for.
        scorer: the model; None for a method that needs none.
        counts: what was done so far.
    """

    def __init__(
        self, settings: Settings, scorer: BoundaryScorer | None = None, batch_tokens: int = 4096
    ) -> None:
        """Check that the parts fit together.

        Args:
            settings: what decides the chunks.
            scorer: needed by methods that ask for scores, and by the unit ``tokens``.
            batch_tokens: token places of a batch.

        Raises:
            UsageError: a model is needed and missing, or θ in tokens exceeds its context.
        """
        self.settings = settings
        self.scorer = scorer
        self.counts = Counts()
        self._method = METHODS[settings.method]
        self._scheduler = Scheduler(scorer, batch_tokens)
        if scorer is None and (self._method.scored or settings.unit == "tokens"):
            raise UsageError(f"{settings.method} in {settings.unit} needs a model")
        if scorer is not None and settings.unit == "tokens" and settings.theta > scorer.context:
            raise UsageError(
                f"θ is {settings.theta} tokens, but the model's context beside ρ holds "
                f"{scorer.context}; that is the largest θ that fits"
            )
        additive = settings.unit != "tokens"
        self._limits = [Limit(self._measure(), most, additive) for most in settings.limits]

    def chunk(self, document: str | Document) -> Tree:
        """Chunk one document.

        Args:
            document: its text, or a document with an id of its own.

        Raises:
            DocumentError: the text holds a lone surrogate.
            ModelError: a single window does not fit in memory.
        """
        [tree] = self.chunk_many([document])
        return tree

    def chunk_many(
        self,
        documents: Iterable[str | Document],
        progress: Callable[[Document, float], None] | None = None,
    ) -> Iterator[Tree]:
        """Chunk documents together, so that their windows share batches.

        Args:
            documents: taken from only as far as batches need; a plain text gets its number as id.
            progress: told what share of a document's sentences was read for the first time.

        Yields:
            A tree for each document, in the order that they came in.

        Raises:
            DocumentError: a text holds a lone surrogate; the iteration ends there.
            ModelError: a single window does not fit in memory.
        """
        if isinstance(documents, str):
            raise TypeError("documents is one str; chunk(text) takes one, chunk_many a list")
        started: dict[int, tuple[Document, Sentences]] = {}  # by the job's id

        def jobs() -> Iterator[Job[list[Cut]]]:
            for number, given in enumerate(documents):
                document = Document(str(number), given) if isinstance(given, str) else given
                if not isinstance(document, Document):
                    raise TypeError(f"a document is a str or Document, not {type(given).__name__}")
                sentences, job = self._prepare(document)
                started[id(job)] = document, sentences
                yield job

        def tell(job: Job[list[Cut]], read: int) -> None:
            if progress is not None:
                document, sentences = started[id(job)]
                progress(document, read / len(sentences) if len(sentences) else 1.0)

        for job in self._scheduler.run(jobs(), tell):
            document, sentences = started.pop(id(job))
            yield self._tree(document, sentences, job.result or [])

    def _measure(self) -> Measure:
        if self.settings.unit == "tokens":
            assert self.scorer is not None
            return measure_tokens(self.scorer.encode)
        return measure_words if self.settings.unit == "words" else measure_characters

    def _prepare(self, document: Document) -> tuple[Sentences, Job[list[Cut]]]:
        bounds = split(document.text, self.settings.language)
        sentences = tabulate(document.text, bounds, self._limits[:1])
        tokens = None
        if self._method.scored and self.scorer is not None:
            # A token is at least a byte: text this short fits without being tokenised to see it.
            if sentences.largest_window(measure_bytes) > self.scorer.context:
                context = Limit(measure_in_window(self.scorer.encode), self.scorer.context)
                sentences = tabulate(document.text, bounds, [self._limits[0], context])
            tokens = DocumentTokens(sentences.texts(), self.scorer.encode)
        job = Job(self._method.cut(sentences), tokens, np.ones(len(sentences), bool))
        return sentences, job

    def _tree(self, document: Document, sentences: Sentences, cuts: Sequence[Cut]) -> Tree:
        content = document.content_hash
        configuration = json.dumps(asdict(self.settings), sort_keys=True)

        def chunk(
            level: int, start: int, end: int, score: float | None, children: tuple[Chunk, ...] = ()
        ) -> Chunk:
            key = chunk_id(document, content, configuration, level, start, end)
            words = count_words(document.text[start:end])
            return Chunk(document, key, level, start, end, words, score, children)

        parents = []
        first = 0
        for stop, score in cuts:
            bounds = sentences.bounds[first : stop + 1]
            children = []
            for level, limit in enumerate(self._limits[1:], start=1):
                spans = pieces(document.text, bounds, limit)
                if len(spans) > 1:
                    children += [chunk(level, start, end, None) for start, end in spans]
            parents.append(chunk(0, int(bounds[0]), int(bounds[-1]), score, tuple(children)))
            self.counts.shortened += sentences.shortened(first)
            self.counts.chunks += 1 + len(children)
            self.counts.words += parents[-1].words
            first = stop
        self.counts.documents += 1
        self.counts.parents += len(parents)
        self.counts.sentences += len(sentences)
        self.counts.divided += sentences.divided
        return Tree(document, tuple(parents))
