"""The chunker: documents in, trees of chunks out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from lgmgc.chunkers.long_windows import LENGTH
from lgmgc.chunkers.method import Method, Segmentation
from lgmgc.chunkers.methods import METHODS, resolve
from lgmgc.chunkers.multi_granular import pieces
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document, Tree, chunk_id
from lgmgc.errors import DocumentError, UsageError
from lgmgc.lm.requests import looks_ahead
from lgmgc.lm.scheduler import Job, Models, Scheduler
from lgmgc.lm.tokens import AHEAD, DocumentTokens, measure_in_window
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
    from lgmgc.lm.windows import BoundaryScorer, TextEmbedder, TextWriter

LARGEST = 10**12
"""θ beyond which no text can go, and below which sums of sizes cannot overflow."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the chunks, apart from the models.

    Attributes:
        method: one of `METHODS`.
        theta: θ, the most that a parent holds.
        unit: what θ counts: words, tokens (of the model's tokenizer) or characters.
        language: see `lgmgc.text.sentences.split`.
        children: children of level 1, 2 … hold at most θ divided by these; empty for none, None
            for the method's own.
        options: what the method can be told beside.

    Raises:
        UsageError: a setting that cannot be.
    """

    method: str = "lgmgc"
    theta: int = 300
    unit: Unit = "words"
    language: str = "auto"
    children: tuple[int, ...] | None = None
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"method {self.method!r} is none of {', '.join(METHODS)}")
        if self.unit not in get_args(Unit):
            raise UsageError(f"unit {self.unit!r} is none of {', '.join(get_args(Unit))}")
        if self.theta > LARGEST:
            raise UsageError(f"θ is {self.theta}; the largest is {LARGEST}")
        if any(part < 1 for part in self.parts):
            raise UsageError(f"children {self.parts} are parts of θ; each needs at least 1")
        least = max((1, *self.parts))
        if self.theta < least:
            children = f", for its smallest children have θ/{least}" if least > 1 else ""
            raise UsageError(f"θ is {self.theta}; {self.method} needs at least {least}{children}")
        if self.options.overlap >= self.theta:
            raise UsageError(f"overlap is {self.options.overlap}; it must be below θ, {self.theta}")
        unread = [name for name in self.options.changed if name not in self.plan.options]
        if unread:
            known = ", ".join(self.plan.options) or "none"
            raise UsageError(f"{self.method} does not read {unread[0]}; its options are: {known}")
        if self.plan.check:
            self.plan.check(self.options)
        check_language(self.language)

    @property
    def plan(self) -> Method:
        """The method that these settings name."""
        return resolve(self.method, self.options)

    @property
    def parts(self) -> tuple[int, ...]:
        """What θ is divided by for the children of level 1, 2 …."""
        return METHODS[self.method].children if self.children is None else self.children

    @property
    def limits(self) -> tuple[int, ...]:
        """The most that a chunk of level 0, 1, 2 … holds."""
        return (self.theta, *(self.theta // part for part in self.parts))

    @property
    def configuration(self) -> dict[str, object]:
        """All that decides, for manifests and ids: options that the method does not read do not."""
        return {
            "method": self.method,
            "theta": self.theta,
            "unit": self.unit,
            "language": self.language,
            "children": list(self.parts),
            **{name: _plain(getattr(self.options, name)) for name in self.plan.options},
        }


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


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
        retries: answers of a model that were asked for again.
        fallbacks: places where no answer could be used and the method went on without.
    """

    documents: int = 0
    parents: int = 0
    chunks: int = 0
    words: int = 0
    sentences: int = 0
    divided: int = 0
    shortened: int = 0
    retries: int = 0
    fallbacks: int = 0


class Chunker:
    """Cuts documents by one method.

    Attributes:
        settings: what was asked for.
        models: what the method asks.
        counts: what was done so far.
    """

    def __init__(
        self,
        settings: Settings,
        scorer: BoundaryScorer | None = None,
        batch_tokens: int = 4096,
        *,
        writer: TextWriter | None = None,
        embedder: TextEmbedder | None = None,
        method: Method | None = None,
    ) -> None:
        """Check that the parts fit together.

        Args:
            settings: what decides the chunks.
            scorer: needed by methods that ask for scores, and by the unit ``tokens``.
            batch_tokens: token places of a batch.
            writer: needed by methods that let a model write.
            embedder: needed by methods that compare vectors.
            method: in place of the one that the settings name: one that is wrapped, to be watched
                or given what it would otherwise read.

        Raises:
            UsageError: a model is needed and missing, or θ in tokens exceeds its context.
        """
        self.settings = settings
        self.models = Models(scorer, writer, embedder)
        self.counts = Counts()
        self._method = method or settings.plan
        self._scheduler = Scheduler(self.models, batch_tokens)
        missing = [need for need in self._method.needs if getattr(self.models, need) is None]
        if missing:
            raise UsageError(f"{settings.method} needs a model: {missing[0]} is None")
        if settings.unit == "tokens" and scorer is None:
            raise UsageError(f"{settings.method} in tokens needs a model")
        windows_of_theta = "scorer" in self._method.needs and not self._method.long
        if (
            scorer is not None
            and settings.unit == "tokens"
            and settings.theta > scorer.context
            and windows_of_theta
        ):
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
        documents: Iterable[str | Document | None],
        progress: Callable[[Document, float], None] | None = None,
        failed: Callable[[Document, DocumentError], None] | None = None,
    ) -> Iterator[Tree]:
        """Chunk documents together, so that their windows share batches.

        Args:
            documents: taken from only as far as batches need; a plain text gets its number as id.
                None among them says that there is none for now: those that are open go on, and it
                is asked again.
            progress: told what share of a document's sentences was read for the first time.
            failed: told of a document that its method cannot cut, which is then left out; None
                ends the iteration there with the error.

        Yields:
            A tree for each document, in the order that they came in.

        Raises:
            DocumentError: a plain text holds a lone surrogate; the iteration ends there.
            ModelError: a single window does not fit in memory.
        """
        if isinstance(documents, str):
            raise TypeError("documents is one str; chunk(text) takes one, chunk_many a list")
        started: dict[int, tuple[Document, Sentences]] = {}  # by the job's id

        def jobs() -> Iterator[Job[Segmentation] | None]:
            for number, given in enumerate(documents):
                if given is None:
                    yield None
                    continue
                document = Document(str(number), given) if isinstance(given, str) else given
                if not isinstance(document, Document):
                    raise TypeError(f"a document is a str or Document, not {type(given).__name__}")
                sentences, job = self._prepare(document)
                started[id(job)] = document, sentences
                yield job

        def tell(job: Job[Segmentation], read: int) -> None:
            if progress is not None:
                document, sentences = started[id(job)]
                progress(document, read / len(sentences) if len(sentences) else 1.0)

        for job in self._scheduler.run(jobs(), tell):
            document, sentences = started.pop(id(job))
            if job.error is not None and failed is not None:
                failed(document, job.error)
                continue
            if job.error is not None:
                raise job.error
            assert job.result is not None
            yield self._tree(document, sentences, job.result)

    def _measure(self) -> Measure:
        if self.settings.unit == "tokens":
            assert self.models.scorer is not None
            return measure_tokens(self.models.scorer.encode)
        return measure_words if self.settings.unit == "words" else measure_characters

    def _prepare(self, document: Document) -> tuple[Sentences, Job[Segmentation]]:
        bounds = split(document.text, self.settings.language)
        sentences = tabulate(document.text, bounds, self._limits[:1])
        tokens = None
        if "scorer" in self._method.needs and self.models.scorer is not None:
            encode = self.models.scorer.encode
            ahead = AHEAD if looks_ahead(self.settings.options.signals) else 0
            context = max(1, self.models.scorer.context - ahead)
            if self._method.long:
                context = min(context, LENGTH)
            # A token is at least a byte: text this short fits without being tokenised to see it.
            if self._method.long or sentences.largest_window(measure_bytes) > context:
                window = Limit(measure_in_window(encode), context)
                sentences = tabulate(document.text, bounds, [self._limits[0], window])
            tokens = DocumentTokens(sentences.texts(), encode)
        cutting = self._method.cut(sentences, self.settings.options, document)
        return sentences, Job(cutting, tokens, np.ones(len(sentences), bool))

    def _tree(self, document: Document, sentences: Sentences, made: Segmentation) -> Tree:
        content = document.content_hash
        configuration = json.dumps(self.settings.configuration, sort_keys=True)

        def chunk(level: int, start: int, end: int, **more: Any) -> Chunk:
            key = chunk_id(document, content, configuration, level, start, end, *views(more))
            words = count_words(document.text[start:end])
            return Chunk(document, key, level, start, end, words, **more)

        def views(more: Mapping[str, Any]) -> list[str]:
            return [more["view"]] if "view" in more else []

        parents = []
        for start, end, score, window, given in made.parents:
            inner = sentences.bounds[slice(*np.searchsorted(sentences.bounds, (start + 1, end)))]
            bounds = np.concatenate(([start], inner, [end]))
            children = [chunk(1, a, b, view=text) for a, b, text in given]
            for level, limit in enumerate(self._limits[1:], start=1):
                spans = pieces(document.text, bounds, limit)
                if len(spans) > 1:
                    children += [chunk(level, a, b) for a, b in spans]
            parents.append(
                chunk(0, start, end, score=score, children=tuple(children), window=window)
            )
            if not self._method.long and len(sentences.limits) > 1:
                first = int(np.searchsorted(sentences.bounds, start))
                self.counts.shortened += sentences.shortened(first)
            self.counts.chunks += 1 + len(children)
        self.counts.words += count_words(document.text)
        self.counts.documents += 1
        self.counts.parents += len(parents)
        self.counts.sentences += len(sentences)
        self.counts.divided += sentences.divided
        self.counts.retries += made.retries
        self.counts.fallbacks += made.fallbacks
        return Tree(document, tuple(parents))
