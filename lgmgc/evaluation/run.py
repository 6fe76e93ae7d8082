"""An experiment from its benchmarks to its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from lgmgc.chunkers.chunker import LARGEST, Settings
from lgmgc.errors import UsageError
from lgmgc.evaluation.answering import answer_all
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.cutting import Cut, cut, cut_as_published, cut_at_random, published
from lgmgc.evaluation.datasets import load_benchmark
from lgmgc.evaluation.experiment import Experiment, Row
from lgmgc.evaluation.judging import ceilings, judge
from lgmgc.evaluation.machine import machine
from lgmgc.evaluation.measures.answers import best_f1
from lgmgc.evaluation.measures.sizes import sizes_of
from lgmgc.evaluation.models import ExperimentModels
from lgmgc.evaluation.peak import peak_of
from lgmgc.evaluation.results import Results, RowResult, Values
from lgmgc.evaluation.searching import Found, search_all, won
from lgmgc.evaluation.segmenting import segmentation_of
from lgmgc.text.sizes import count_words


def load_all(experiment: Experiment, data: Path) -> list[Benchmark]:
    """Load the benchmarks, and refuse before anything is run what could not be.

    Args:
        experiment: names them.
        data: the folder that their paths begin in.

    Raises:
        UsageError: a benchmark is not there, or lacks what the experiment asks of it.
        DocumentError: a benchmark's file is not what it should be.
    """
    found: dict[str, Benchmark] = {}
    for source in experiment.sources:
        benchmark = load_benchmark(source.name, data / source.data, **source.options)
        name = benchmark.name
        if name in found:
            raise UsageError(f"two benchmarks are called {name}; run them one by one")
        if not benchmark.boundaries and "segmentation" in experiment.measures:
            raise UsageError(f"{name} has no gold boundaries to compare with")
        if not benchmark.boundaries and experiment.theta_of_gold:
            raise UsageError(f"{name} has no gold segments to take θ from")
        for row in experiment.rows:
            if row.context == "whole" and benchmark.scope == "collection":
                raise UsageError(f"{row.label!r}: a question to all of {name} has no document")
            if row.published is not None and benchmark.chunkings:
                published(row, benchmark)
        found[name] = benchmark
    return list(found.values())


def run(
    experiment: Experiment,
    benchmarks: Sequence[Benchmark],
    models: ExperimentModels,
    progress: Callable[[str], None] = lambda line: None,
) -> Results:
    """Run an experiment; what models answered before is not asked again.

    Args:
        experiment: what to run.
        benchmarks: from `load_all`.
        models: to ask.
        progress: told each row before it is begun.

    Raises:
        UsageError: a row cannot be as it is asked for.
        ModelError: a model is absent or unfit.
    """
    rows: list[RowResult] = []
    for benchmark in benchmarks:
        rows += _Bench(experiment, benchmark, models, progress).rows()
    return Results(
        name=experiment.name,
        title=experiment.title,
        benchmarks={benchmark.name: benchmark.title for benchmark in benchmarks},
        baseline=experiment.baseline,
        rule=experiment.rule,
        rows=rows,
        made=machine(models),
    )


class _Bench:
    """One benchmark of an experiment; rows that others are like are kept."""

    def __init__(
        self,
        experiment: Experiment,
        benchmark: Benchmark,
        models: ExperimentModels,
        progress: Callable[[str], None],
    ) -> None:
        self._experiment = experiment
        self._benchmark = benchmark
        self._models = models
        self._progress = progress
        self._cuts: dict[str, Cut] = {}
        self._words = {d.id: count_words(d.text) for d in benchmark.documents}
        self._tokens: dict[str | None, int] = {}
        self._groups = {question.id: question.document for question in benchmark.questions}

    def rows(self) -> list[RowResult]:
        found = []
        for row in self._experiment.rows:
            absent = row.like is not None and row.like not in self._cuts
            if absent or (row.published is not None and not self._benchmark.chunkings):
                self._progress(f"{self._benchmark.name}: {row.label} is not published for it")
                continue
            self._progress(f"{self._benchmark.name}: {row.label}")
            found.append(self._row(row))
        return found

    def _row(self, row: Row) -> RowResult:
        if row.context != "parents":
            return self._without_chunks(row)
        made = [self._judged(row, each) for each in self._cut(row)]
        if len(made) == 1:
            return made[0]
        values = _mean([each.values for each in made])
        return replace(
            made[0],
            sizes=_average([each.sizes for each in made]),
            ceilings=ceilings(values),
            levels=_average([each.levels for each in made]),
            values=values,
        )

    def _without_chunks(self, row: Row) -> RowResult:
        """A reader that is given no chunk: nothing is cut, and nothing is searched for."""
        values: dict[str, dict[str, float]] = {}
        if "answers" in self._experiment.measures:
            self._answer(row, [[] for _ in self._benchmark.questions], values)
        return RowResult(row.label, self._benchmark.name, {}, {}, {}, {}, {}, values, self._groups)

    def _cut(self, row: Row) -> list[Cut]:
        """One cut, or one for each draw of the control."""
        if row.like is not None:
            like, scorer = self._cuts[row.like], None
            if like.settings.unit == "tokens":
                scorer, _ = self._models.scorer(row.model)
            return [cut_at_random(like, seed, scorer) for seed in range(row.seeds)]
        if row.settings is None:
            made = cut_as_published(row, self._benchmark)
        else:
            made = cut(row, self._benchmark, self._models, self._sized(row.settings))
        self._cuts[row.label] = made
        return [made]

    def _sized(self, settings: Settings) -> Settings:
        """θ from the gold segments, where the experiment wants it so."""
        times = self._experiment.theta_of_gold
        if not times:
            return settings
        gold = self._benchmark.boundaries
        mean = sum(self._words[name] for name in gold) / sum(map(len, gold.values()))
        return replace(settings, theta=max(1, round(times * mean)))

    def _judged(self, row: Row, made: Cut) -> RowResult:
        benchmark, measures = self._benchmark, self._experiment.measures
        values: dict[str, dict[str, float]] = {}
        cost, theta = self._cost(row, made), made.settings.theta
        result = RowResult(
            label=row.label,
            benchmark=benchmark.name,
            settings=made.settings.configuration | {"model": row.model} if row.settings else {},
            sizes=sizes_of(
                [parent.words for tree in made.trees for parent in tree.parents],
                theta if made.settings.unit == "words" and theta < LARGEST else None,
            ),
            cost=cost,
            groups=self._groups,
        )
        if "retrieval" in measures or "answers" in measures:
            embedder, memory = self._models.remembered_embedder()
            found = search_all(benchmark, made.trees, embedder, row.search)
            cost["index_seconds"] = memory.cost.seconds
            result = replace(result, levels={str(k): v for k, v in won(found).items()})
            if "retrieval" in measures:
                count = self._models.count_tokens()
                values |= judge(benchmark, made.trees, found, count)
                result = replace(result, ceilings=ceilings(values))
            if "answers" in measures:
                self._answer(row, found, values)
        if "segmentation" in measures:
            for tree in made.trees:
                if (name := tree.document.id) in benchmark.boundaries:
                    values.setdefault(name, {}).update(segmentation_of(benchmark, tree))
        return replace(result, values=values)

    def _answer(
        self, row: Row, found: Sequence[Sequence[Found]], values: dict[str, dict[str, float]]
    ) -> None:
        writer, _ = self._models.writer(None)
        benchmark, k = self._benchmark, self._experiment.reader_k
        asked = [(q, f) for q, f in zip(benchmark.questions, found, strict=True) if q.answers]
        judged = replace(benchmark, questions=tuple(question for question, _ in asked))
        answers = answer_all(judged, [some for _, some in asked], writer, row.context, k)
        for question, answer in zip(judged.questions, answers, strict=True):
            f1 = best_f1(answer, question.answers, benchmark.language)
            values.setdefault(question.id, {})["F1 of answers"] = f1

    def _cost(self, row: Row, made: Cut) -> dict[str, float]:
        """What cutting costs; nothing of published chunks and controls, which are not cut anew."""
        if row.settings is None:
            return {}
        seconds = made.model_seconds + made.other_seconds
        words = sum(self._words.values())
        cost = {"seconds": seconds, "words_per_second": words / max(seconds, 1e-9)}
        if made.model_tokens:
            cost["model_tokens_per_token"] = made.model_tokens / self._tokens_of(row.model)
        if made.retries or made.fallbacks:
            cost |= {"retries": made.retries, "fallbacks": made.fallbacks}
        if "memory" in self._experiment.measures:
            cost |= peak_of(self._benchmark.documents, made.settings, row, self._models.choice)
        return cost

    def _tokens_of(self, model: str | None) -> int:
        """The tokens of all documents, for the model of that name."""
        if model not in self._tokens:
            encode = self._models.language(model).loaded.scorer.encode
            texts = [document.text for document in self._benchmark.documents]
            self._tokens[model] = max(1, sum(map(len, encode(texts))))
        return self._tokens[model]


def _mean(draws: Sequence[Mapping[str, Mapping[str, float]]]) -> Mapping[str, Mapping[str, float]]:
    """Values averaged over the draws of a control, question by question.

    >>> _mean([{"q": {"a": 1.0}}, {"q": {"a": 0.0}}])
    {'q': {'a': 0.5}}
    """
    return {key: _average([draw[key] for draw in draws]) for key in draws[0]}


def _average(draws: Sequence[Values]) -> dict[str, float]:
    """Of each name; 0 where a draw has none of it.

    >>> _average([{"a": 1.0}, {"a": 0.0, "b": 1.0}])
    {'a': 0.5, 'b': 0.5}
    """
    names = dict.fromkeys(name for draw in draws for name in draw)
    return {name: fmean(draw.get(name, 0.0) for draw in draws) for name in names}
