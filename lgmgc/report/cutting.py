"""A document cut for the page: by a method that is watched, or at random with another's sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.load import LoadedModels
from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.methods import METHODS
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.random_control import random_control
from lgmgc.document import Document, Tree
from lgmgc.report.layout import Segmented
from lgmgc.report.trace import Scores, scores_of_cuts, traced
from lgmgc.text.sizes import measure_characters, measure_tokens, measure_words
from lgmgc.text.table import Sentences

Progress = Callable[[Document, float], None]


class Cut(NamedTuple):
    """What one method made, what it was told of the text meanwhile, and by which model."""

    segmented: Segmented
    scores: Scores | None
    by: str = ""


def cut(
    document: Document, settings: Settings, models: LoadedModels, progress: Progress | None = None
) -> Cut:
    """Cut a document and keep the score of every candidate.

    Args:
        document: of which a page is made.
        settings: name the method.
        models: those that the method asks.
        progress: see `Chunker.chunk_many`.
    """
    method, trace = traced(settings.plan)
    chunker = Chunker(
        settings,
        models.loaded.scorer if models.loaded else None,
        models.batch_tokens,
        writer=models.writer,
        embedder=models.embedder,
        method=method,
    )
    [tree] = chunker.chunk_many([document], progress)
    scores = trace.scores(tree, first=method.long) or scores_of_cuts(tree, "score")
    by = f"{models.loaded.name} in {models.loaded.precision}" if scores and models.loaded else ""
    return Cut(named(tree, settings.method, settings, models), scores, by)


def named(tree: Tree, name: str, settings: Settings, models: LoadedModels) -> Segmented:
    """A tree with its sizes in the unit of the settings, and what its method is."""
    texts = [parent.text for parent in tree.parents]
    if settings.unit == "tokens":
        assert models.loaded is not None, "tokens are counted without a tokenizer"
        sizes = measure_tokens(models.loaded.scorer.encode)(texts)
    else:
        sizes = (measure_words if settings.unit == "words" else measure_characters)(texts)
    summary = METHODS[name].summary if name in METHODS else "as the file has them"
    return Segmented(name, summary, tree, sizes.tolist())


def at_random(tree: Tree, settings: Settings, models: LoadedModels) -> Segmented:
    """The document of a tree, cut at random sentence ends with the sizes of its parents."""

    def like(sentences: Sentences, options: Options, document: Document) -> Cutting:
        return Segmentation([Parent(parent.start, parent.end) for parent in tree.parents])
        yield

    control = Settings("random", settings.theta, settings.unit, settings.language, settings.parts)
    scorer = models.loaded.scorer if models.loaded else None
    method = replace(control.plan, cut=random_control(like))
    made = Chunker(control, scorer, models.batch_tokens, method=method).chunk(tree.document)
    return named(made, "random", control, models)
