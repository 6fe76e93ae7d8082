"""The chunks of a row of an experiment, and what it cost to make them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lgmgc.chunkers.chunker import LARGEST, Chunker, Settings
from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.methods import METHODS
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.random_control import Cut as CutOne
from lgmgc.chunkers.random_control import random_control
from lgmgc.document import Document, Tree
from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Benchmark, Span
from lgmgc.evaluation.experiment import Row
from lgmgc.evaluation.models import ExperimentModels
from lgmgc.lm.windows import BoundaryScorer
from lgmgc.text.table import Sentences


@dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of all documents of a benchmark.

    Attributes:
        trees: in the order of the documents.
        settings: what made them.
        model_seconds: of language model and embedder, as measured when each request was first
            made.
        other_seconds: everything else, as measured now.
        model_tokens: that the language model read, and may have written.
        retries: answers that were asked for again.
        fallbacks: places where no answer could be used.
    """

    trees: tuple[Tree, ...] = field(repr=False)
    settings: Settings
    model_seconds: float = 0.0
    other_seconds: float = 0.0
    model_tokens: int = 0
    retries: int = 0
    fallbacks: int = 0


def cut(row: Row, benchmark: Benchmark, models: ExperimentModels, settings: Settings) -> Cut:
    """Cut the documents of a benchmark by a method.

    Args:
        row: names the models.
        benchmark: its documents.
        models: of the experiment.
        settings: of the chunker.

    Raises:
        ModelError: a model is not there, or a window does not fit in memory.
        UsageError: the settings do not fit the model.
    """
    needs = settings.plan.needs
    memories = []
    scorer = writer = embedder = None
    batch_tokens = 4096
    if "scorer" in needs or settings.unit == "tokens":
        scorer, memory = models.scorer(row.model)
        batch_tokens = models.language(row.model).loaded.batch_tokens
        memories.append(memory)
    if "writer" in needs:
        writer, memory = models.writer(row.model)
        memories.append(memory)
    reading = list(memories)
    if "embedder" in needs:
        embedder, memory = models.remembered_embedder()
        memories.append(memory)
    batch_tokens = models.choice.batch_tokens or batch_tokens
    chunker = Chunker(settings, scorer, batch_tokens, writer=writer, embedder=embedder)
    began = time.perf_counter()
    trees = tuple(chunker.chunk_many(benchmark.documents))
    wall = time.perf_counter() - began
    return Cut(
        trees,
        settings,
        model_seconds=sum(memory.cost.seconds for memory in memories),
        other_seconds=max(0.0, wall - sum(memory.cost.spent for memory in memories)),
        model_tokens=sum(memory.cost.tokens for memory in reading),
        retries=chunker.counts.retries,
        fallbacks=chunker.counts.fallbacks,
    )


def cut_at_random(like: Cut, seed: int, scorer: BoundaryScorer | None = None) -> Cut:
    """The control: the sizes of another row in random order, at ends of sentences.

    Args:
        like: the other row; the control has its θ, and children of the same parts of θ.
        seed: of the order.
        scorer: whose tokens θ counts, where it counts tokens.
    """
    settings = replace(
        like.settings, method="random", children=like.settings.parts, options=Options(seed=seed)
    )
    parents = {tree.document.id: [(p.start, p.end) for p in tree.parents] for tree in like.trees}
    return _cut_by(
        settings, [tree.document for tree in like.trees], parents, random_control, scorer
    )


def cut_as_published(row: Row, benchmark: Benchmark) -> Cut:
    """The chunks that come with a benchmark, brought to spans of its documents.

    White space is not compared, for chunks made by others rarely keep it.

    Raises:
        UsageError: the benchmark has none of that name, or their texts are not the document's.
    """
    texts = published(row, benchmark)
    [document, *others] = benchmark.documents
    if others:
        raise UsageError(f"{benchmark.name} has published chunks, and more than one document")
    spans = spans_of(texts, document.text)
    if spans is None:
        raise UsageError(f"the chunks {row.published!r} of {benchmark.name} are not all its text")
    settings = Settings("random", LARGEST, children=())
    return _cut_by(settings, [document], {document.id: spans})


def published(row: Row, benchmark: Benchmark) -> Sequence[str]:
    """The texts of the chunks that a row names.

    Raises:
        UsageError: the benchmark has none of that name.
    """
    texts = benchmark.chunkings.get(row.published or "")
    if texts is None:
        known = ", ".join(benchmark.chunkings) or "none"
        raise UsageError(f"{benchmark.name} has no chunks {row.published!r}; it has: {known}")
    return texts


def spans_of(texts: Sequence[str], whole: str) -> list[Span] | None:
    r"""Where texts lie that make up another but for white space, which goes to the one before it.

    Returns:
        Spans that tile ``whole``; None where the texts are not those of ``whole``.

    >>> spans_of(["a b", "c"], "a\nb\n\nc "), spans_of(["a"], "b")
    ([(0, 5), (5, 7)], None)
    """
    places = [k for k, character in enumerate(whole) if not character.isspace()]
    parts = ["".join(text.split()) for text in texts]
    if "".join(parts) != "".join(whole.split()):
        return None
    spans, start, count = [], 0, 0
    for part in filter(None, parts):
        count += len(part)
        end = places[count] if count < len(places) else len(whole)
        spans.append((start, end))
        start = end
    return spans


def _cut_by(
    settings: Settings,
    documents: Sequence[Document],
    spans: Mapping[str, Sequence[Span]],
    wrap: Callable[[CutOne], CutOne] = lambda cut: cut,
    scorer: BoundaryScorer | None = None,
) -> Cut:
    def given(sentences: Sentences, options: Options, document: Document) -> Cutting:
        return Segmentation([Parent(start, end) for start, end in spans[document.id]])
        yield  # makes a method of it that asks nothing

    chunker = Chunker(settings, scorer, method=replace(METHODS["random"], cut=wrap(given)))
    began = time.perf_counter()
    trees = tuple(chunker.chunk_many(documents))
    return Cut(trees, settings, other_seconds=time.perf_counter() - began)
