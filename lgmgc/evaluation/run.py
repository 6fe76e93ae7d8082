"""An experiment from its benchmarks to its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from lgmgc.chunkers.chunker import Settings
from lgmgc.errors import UsageError
from lgmgc.evaluation.answering import answer_all
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.cutting import Cut, cut, cut_as_published, cut_at_random
from lgmgc.evaluation.datasets import load_benchmark
from lgmgc.evaluation.experiment import Experiment, Row
from lgmgc.evaluation.judging import ceilings, judge
from lgmgc.evaluation.machine import machine
from lgmgc.evaluation.measures.answers import best_f1
from lgmgc.evaluation.measures.sizes import sizes_of
from lgmgc.evaluation.models import ExperimentModels
from lgmgc.evaluation.peak import peak_of
from lgmgc.evaluation.results import Results, RowResult
from lgmgc.evaluation.searching import Found, search_all, won
from lgmgc.evaluation.segmenting import segmentation_of
from lgmgc.text.sizes import count_words


def run(
    experiment: Experiment,
    data: Path,
    models: ExperimentModels,
    progress: Callable[[str], None] = lambda line: None,
) -> Results:
    """Run an experiment; what models answered before is not asked again.

    Args:
        experiment: what to run.
        data: the folder that the benchmarks' paths begin in.
        models: to ask.
        progress: told each row before it is begun.

    Raises:
        UsageError: a benchmark or a row cannot be as it is asked for.
        DocumentError: a benchmark's file is not what it should be.
        ModelError: a model is absent or unfit.
    """
    rows: list[RowResult] = []
    titles = {}
    for source in experiment.sources:
        benchmark = load_benchmark(source.name, data / source.data, **source.options)
        if benchmark.name in titles:
            raise UsageError(f"two benchmarks are called {benchmark.name}; run them one by one")
        titles[benchmark.name] = benchmark.title
        rows += _Bench(experiment, benchmark, models, progress, data / source.data).rows()
    return Results(
        name=experiment.name,
        title=experiment.title,
        benchmarks=titles,
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
        data: Path,
    ) -> None:
        self._experiment = experiment
        self._benchmark = benchmark
        self._models = models
        self._progress = progress
        self._data = data
        self._cuts: dict[str, Cut] = {}
        self._words = {d.id: count_words(d.text) for d in benchmark.documents}
        self._tokens: dict[str | None, int] = {}

    def rows(self) -> list[RowResult]:
        found = []
        for row in self._experiment.rows:
            if row.published is not None and not self._benchmark.chunkings:
                self._progress(f"{self._benchmark.name}: {row.label} is not published for it")
                continue
            self._progress(f"{self._benchmark.name}: {row.label}")
            found.append(self._row(row))
        return found

    def _row(self, row: Row) -> RowResult:
        cuts = self._cut(row)
        made = [self._judged(row, each) for each in cuts]
        return replace(made[0], values=_mean([each.values for each in made]))

    def _cut(self, row: Row) -> list[Cut]:
        """One cut, or one for each draw of the control."""
        if row.like is not None:
            return [cut_at_random(self._cuts[row.like], seed) for seed in range(row.seeds)]
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
        segments = sum(map(len, self._benchmark.boundaries.values()))
        if not segments:
            raise UsageError(f"{self._benchmark.name} has no gold segments to take θ from")
        mean = sum(self._words.values()) / segments
        return replace(settings, theta=max(1, round(times * mean)))

    def _judged(self, row: Row, made: Cut) -> RowResult:
        benchmark, measures = self._benchmark, self._experiment.measures
        values: dict[str, dict[str, float]] = {}
        cost = self._cost(row, made)
        result = RowResult(
            label=row.label,
            benchmark=benchmark.name,
            settings=made.settings.configuration | {"model": row.model} if row.settings else {},
            sizes=sizes_of(
                [parent.words for tree in made.trees for parent in tree.parents],
                made.settings.theta if made.settings.unit == "words" else None,
            ),
            cost=cost,
            groups={question.id: question.document for question in benchmark.questions},
        )
        if "retrieval" in measures or "answers" in measures:
            found: list[list[Found]] = [[] for _ in benchmark.questions]
            if row.context == "parents":
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
            if not benchmark.boundaries:
                raise UsageError(f"{benchmark.name} has no gold boundaries to compare with")
            values |= {tree.document.id: segmentation_of(benchmark, tree) for tree in made.trees}
        return replace(result, values=values)

    def _answer(
        self, row: Row, found: Sequence[Sequence[Found]], values: dict[str, dict[str, float]]
    ) -> None:
        writer, _ = self._models.writer(None)
        answers = answer_all(self._benchmark, found, writer, row.context, self._experiment.reader_k)
        for question, answer in zip(self._benchmark.questions, answers, strict=True):
            if question.answers:
                f1 = best_f1(answer, question.answers, self._benchmark.language)
                values.setdefault(question.id, {})["F1 of answers"] = f1

    def _cost(self, row: Row, made: Cut) -> dict[str, float]:
        seconds = made.model_seconds + made.other_seconds
        words = sum(self._words.values())
        cost = {"seconds": seconds, "words_per_second": words / max(seconds, 1e-9)}
        if made.model_tokens:
            cost["model_tokens_per_token"] = made.model_tokens / self._tokens_of(row.model)
        if made.retries or made.fallbacks:
            cost |= {"retries": made.retries, "fallbacks": made.fallbacks}
        if "memory" in self._experiment.measures and row.settings is not None:
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
    if len(draws) == 1:
        return draws[0]
    return {
        key: {name: fmean(draw[key][name] for draw in draws) for name in draws[0][key]}
        for key in draws[0]
    }
