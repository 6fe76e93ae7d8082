"""What an experiment is: a TOML file that names benchmarks, methods and measures."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.options import Options
from lgmgc.errors import UsageError

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
    kept |= {experiment.baseline, *(row.like for row in experiment.rows if row.label in kept)}
    return replace(experiment, rows=tuple(row for row in experiment.rows if row.label in kept))


def _experiment(stem: str, content: dict[str, Any]) -> Experiment:
    sources = [_source(table) for table in _tables(content.pop("benchmark", None), "benchmark")]
    rows: list[Row] = []
    for table in _tables(content.pop("method", None), "method"):
        rows += _controls(table, rows) if table.get("method") == "random" else _rows(table)
    labels = [row.label for row in rows]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise UsageError(f"two methods are labelled {twice[0]!r}; give each a label of its own")
    known = {f.name for f in fields(Experiment)} - {"sources", "rows"}
    _refuse_unknown(content, known)
    measures = tuple(content.pop("measures", ("retrieval",)))
    if not measures or (wrong := set(measures) - set(get_args(Measure))):
        raise UsageError(f"measures are {', '.join(get_args(Measure))}, not {sorted(wrong)[0]!r}")
    baseline = content.get("baseline")
    if baseline is not None and baseline not in labels:
        raise UsageError(f"the baseline {baseline!r} is none of the methods' labels")
    content = {"name": stem, "title": stem, **content}
    return Experiment(sources=tuple(sources), rows=tuple(rows), measures=measures, **content)


def _tables(found: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UsageError(f"needs at least one [[{name}]]")
    return found


def _source(table: dict[str, Any]) -> Source:
    options = dict(table)
    try:
        name, data = options.pop("name"), options.pop("data")
    except KeyError as error:
        raise UsageError(f"a [[benchmark]] needs {error.args[0]!r}") from None
    return Source(str(name), str(data), options)


_SETTINGS = ("theta", "unit", "children", "language")
_OWN = ("model", "search", "context")


def _rows(table: dict[str, Any]) -> Iterator[Row]:
    """The rows that a [[method]] stands for: one, or one for each value of a list."""
    _refuse_unknown(table, {"label", "method", "published", "options", *_SETTINGS, *_OWN})
    if ("method" in table) == ("published" in table):
        raise UsageError("a [[method]] needs either method or published")
    label = str(table.get("label") or table.get("method") or table["published"])
    options = table.get("options", {})
    _refuse_unknown(options, {f.name for f in fields(Options)})
    settings = {key: _plain(key, table[key]) for key in _SETTINGS if key in table}
    own = {key: _plain(key, table[key]) for key in _OWN if key in table}
    if own.get("context", "parents") not in get_args(Context):
        raise UsageError(f"the context of {label!r} is none of {', '.join(get_args(Context))}")
    if "published" in table:
        yield Row(label, published=str(table["published"]), **own)
        return
    varied = {k: v for k, v in (*settings.items(), *options.items()) if isinstance(v, list)}
    for values in itertools.product(*varied.values()):
        chosen = dict(zip(varied, values, strict=True))
        signs = "".join(f" {'θ' if key == 'theta' else key}={chosen[key]}" for key in varied)
        try:
            told = Options(**{key: chosen.get(key, value) for key, value in options.items()})
            kept = {key: chosen.get(key, value) for key, value in settings.items()}
            yield Row(label + signs, Settings(table["method"], options=told, **kept), **own)
        except TypeError as error:
            raise UsageError(f"{label!r} is told something of the wrong kind ({error})") from None


def _controls(table: dict[str, Any], before: Sequence[Row]) -> Iterator[Row]:
    """The control of a row, or of each of the rows that one [[method]] before stands for."""
    _refuse_unknown(table, {"label", "method", "like", "seeds", *_OWN})
    like, seeds = table.get("like"), table.get("seeds", 1)
    if not isinstance(seeds, int) or seeds < 1:
        raise UsageError(f"seeds is {seeds!r}; it needs a whole number of at least 1")
    found = [row for row in before if row.label == like or row.label.startswith(f"{like} ")]
    if not found:
        raise UsageError(f"random is like {like!r}, which is no [[method]] before it")
    own = {key: _plain(key, table[key]) for key in _OWN if key in table}
    for row in found:
        label = table.get("label", f"random, sizes of {like}") + row.label.removeprefix(str(like))
        yield Row(label, model=row.model, like=row.label, seeds=seeds, **own)


def _refuse_unknown(table: Mapping[str, object], known: Collection[str]) -> None:
    if unknown := sorted(set(table) - set(known)):
        raise UsageError(f"{unknown[0]!r} is none of {', '.join(sorted(known))}")


def _plain(key: str, value: Any) -> Any:
    """Lists of these two are one value; of the others, one value for each row."""
    return tuple(value) if key in ("children", "search") else value
