"""What an experiment is: a TOML file that names benchmarks, methods and measures."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.options import Options
from lgmgc.errors import UsageError
from lgmgc.evaluation.datasets import BENCHMARKS
from lgmgc.evaluation.kinds import check, one_of
from lgmgc.evaluation.measures.relevance import Rule

Measure = Literal["retrieval", "segmentation", "answers", "memory"]
Context = Literal["parents", "closed", "whole"]


@dataclass(frozen=True, slots=True)
class Source:
    """A benchmark to be loaded.

    Attributes:
        name: one of `lgmgc.evaluation.datasets.BENCHMARKS`.
        data: its folder or file, below the folder of all data.
        options: what its loader takes beside.
    """

    name: str
    data: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the results: one way to cut, and to search what was cut.

    Attributes:
        label: how tables name it, unique in its experiment.
        settings: of the chunker; None for published chunks, and for the control, which has those
            of the row that it is like.
        model: the language model; None for the experiment's.
        like: for the control ``random``: the label of the row whose sizes are drawn from.
        seeds: for the control: how many draws are averaged.
        published: the name of chunks that come with the benchmark.
        search: the levels of pieces that are searched; empty for all that there are.
        context: what a reader is given: the best parents, nothing, or the document as far as it
            fits.
    """

    label: str
    settings: Settings | None = None
    model: str | None = None
    like: str | None = None
    seeds: int = 1
    published: str | None = None
    search: tuple[int, ...] = ()
    context: Context = "parents"


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is run.

    Attributes:
        name: of the folder of results.
        title: of the tables.
        sources: the benchmarks.
        rows: in the order of the tables.
        measures: what is measured.
        baseline: the label of the row that all others are compared with.
        rule: which chunks are relevant in the main table.
        model: the language model; None for the default.
        embedder: None for the default.
        reader_k: parents that a reader is given.
        theta_of_gold: θ of every row, as a multiple of the mean gold segment in words; 0: the
            rows' own.
    """

    name: str
    title: str
    sources: tuple[Source, ...]
    rows: tuple[Row, ...]
    measures: tuple[Measure, ...] = ("retrieval",)
    baseline: str | None = None
    rule: str = "folded"
    model: str | None = None
    embedder: str | None = None
    reader_k: int = 5
    theta_of_gold: float = 0.0


def load_experiment(path: Path) -> Experiment:
    """Read and check an experiment.

    A list in the place of a number or text of a method makes one row for each of its values, whose
    labels say which: ``theta = [200, 300]``.

    Raises:
        UsageError: it cannot be read, or says something that cannot be; one sentence names the file
            and the place.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: is not TOML ({error})") from None
    try:
        return _experiment(path.stem, content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def select(experiment: Experiment, patterns: Sequence[str]) -> Experiment:
    """Keep the rows whose labels match a pattern, and those that they are like or compared with.

    Args:
        experiment: to choose from.
        patterns: such as ``lg*``; empty for all.

    Raises:
        UsageError: a pattern matches nothing.
    """
    if not patterns:
        return experiment
    for pattern in patterns:
        if not any(fnmatchcase(row.label, pattern) for row in experiment.rows):
            labels = ", ".join(row.label for row in experiment.rows)
            raise UsageError(f"--only {pattern!r} matches none of: {labels}")
    kept: set[str | None] = {
        row.label for row in experiment.rows for p in patterns if fnmatchcase(row.label, p)
    }
    kept.add(experiment.baseline)
    kept |= {row.like for row in experiment.rows if row.label in kept}
    return replace(experiment, rows=tuple(row for row in experiment.rows if row.label in kept))


def _experiment(stem: str, content: dict[str, Any]) -> Experiment:
    sources = [_source(table) for table in _tables(content.pop("benchmark", None), "benchmark")]
    rows: list[tuple[str, Row]] = []  # each with the label that its [[method]] was given
    for table in _tables(content.pop("method", None), "method"):
        made = _controls(table, rows) if table.get("method") == "random" else _rows(table)
        rows += [(_label(table), row) for row in made]
    labels = [row.label for _, row in rows]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise UsageError(f"two methods are labelled {twice[0]!r}; give each a label of its own")
    check(content, {f.name for f in fields(Experiment)} - {"sources", "rows"})
    measures = tuple(content.pop("measures", ("retrieval",)))
    one_of("the measure", measures, get_args(Measure))
    if "rule" in content:
        one_of("the rule", [content["rule"]], get_args(Rule))
    baseline = content.get("baseline")
    if baseline is not None and baseline not in labels:
        raise UsageError(f"the baseline {baseline!r} is none of the methods' labels")
    content = {"name": stem, "title": stem, **content}
    return Experiment(
        sources=tuple(sources), rows=tuple(row for _, row in rows), measures=measures, **content
    )


def _tables(found: object, name: str) -> list[dict[str, Any]]:
    if not found or not isinstance(found, list) or not all(isinstance(t, dict) for t in found):
        raise UsageError(f"needs at least one [[{name}]]")
    return found


def _source(table: dict[str, Any]) -> Source:
    check(table, {"name", "data", "limit", "books", "language"})
    options = dict(table)
    try:
        name, data = options.pop("name"), options.pop("data")
    except KeyError as error:
        raise UsageError(f"a [[benchmark]] needs {error.args[0]!r}") from None
    one_of("the benchmark", [name], BENCHMARKS)
    return Source(name, data, options)


_VARIED = ("theta", "unit", "language")
_OWN = ("search", "context")


def _label(table: Mapping[str, Any]) -> str:
    label: str = (
        table.get("label")
        or table.get("published")
        or (f"random, sizes of {table['like']}" if "like" in table else table["method"])
    )
    return label


def _rows(table: dict[str, Any]) -> Iterator[Row]:
    """The rows that a [[method]] stands for: one, or one for each value of a list."""
    if ("method" in table) == ("published" in table):
        raise UsageError("a [[method]] needs either method or published")
    if "published" in table:
        check(table, {"label", "published", *_OWN})
        yield Row(_label(table), published=table["published"], **_own(table))
        return
    settings = table.keys() & {"theta", "unit", "language", "children"}
    check(table, {"label", "method", "model", "options", *settings, *_OWN}, _VARIED)
    label, options = _label(table), table.get("options", {})
    names = {f.name for f in fields(Options)}
    check(options, names, varied=names)
    given = {key: value for key, value in table.items() if key in settings} | options
    varied = {k: v for k, v in given.items() if isinstance(v, list) and k != "children"}
    for values in itertools.product(*varied.values()):
        chosen = given | dict(zip(varied, values, strict=True))
        signs = "".join(f" {'θ' if key == 'theta' else key}={chosen[key]}" for key in varied)
        for key, read in (("children", tuple), ("boundaries", Path)):
            if key in chosen:
                chosen[key] = read(chosen[key])
        told = Options(**{key: chosen[key] for key in options})
        made = Settings(table["method"], options=told, **{key: chosen[key] for key in settings})
        yield Row(label + signs, made, table.get("model"), **_own(table))


def _controls(table: dict[str, Any], before: Iterable[tuple[str, Row]]) -> Iterator[Row]:
    """The control of a row, or of each of the rows that one [[method]] before stands for."""
    check(table, {"label", "method", "like", "seeds", *_OWN})
    like, seeds = table.get("like"), table.get("seeds", 1)
    if like is None:
        raise UsageError("random needs like, the label of a [[method]] before it")
    found = [
        row
        for label, row in before
        if like in (label, row.label) and row.like is None and row.context == "parents"
    ]
    if not found:
        raise UsageError(f"random is like {like!r}, which is no [[method]] before it")
    for row in found:
        label = _label(table) + row.label.removeprefix(like)
        yield Row(label, like=row.label, seeds=seeds, **_own(table))


def _own(table: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says beside how it cuts."""
    context = table.get("context", "parents")
    one_of("the context", [context], get_args(Context))
    return {"search": tuple(table.get("search", ())), "context": context}
