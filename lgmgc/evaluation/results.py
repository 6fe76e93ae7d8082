"""What an experiment found, as it is written beside its tables and read again to be compared."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lgmgc.errors import UsageError

SCHEMA = 1
"""To be raised whenever a reader of today's file would misread tomorrow's."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row on one benchmark.

    Attributes:
        label: of the row.
        benchmark: its name.
        settings: what cut.
        sizes: parents, their mean size and so on, in words; see `sizes_of`.
        cost: ``seconds`` to cut, ``words_per_second``, ``model_tokens_per_token``,
            ``index_seconds`` to embed pieces and questions; ``peak_bytes`` where memory was
            measured.
        ceilings: the share of questions that any chunk can satisfy, by rule of relevance.
        levels: by which level's piece the first 20 parents were found.
        values: the measures of each question (by its id), or document (for segmentation).
        groups: the document of each question.
    """

    label: str
    benchmark: str
    settings: Mapping[str, Any]
    sizes: Values
    cost: Values
    ceilings: Values = field(default_factory=dict)
    levels: Values = field(default_factory=dict)
    values: Mapping[str, Values] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order in which they were taken."""
        return tuple(dict.fromkeys(name for each in self.values.values() for name in each))

    def of(self, measure: str) -> dict[str, float]:
        """The values of one measure; questions that it cannot be taken of are left out."""
        return {
            key: each[measure]
            for key, each in self.values.items()
            if measure in each and not math.isnan(each[measure])
        }


@dataclass(frozen=True, slots=True)
class Results:
    """All rows of an experiment.

    Attributes:
        name: of the experiment.
        title: of its tables.
        benchmarks: name to title.
        baseline: the label of the row that others are compared with.
        rule: which chunks are relevant in the main table.
        rows: benchmark by benchmark.
        made: machine, versions, models, when.
    """

    name: str
    title: str
    benchmarks: Mapping[str, str]
    baseline: str | None
    rule: str
    rows: Sequence[RowResult]
    made: Mapping[str, Any] = field(default_factory=dict)

    def on(self, benchmark: str) -> list[RowResult]:
        """The rows of one benchmark."""
        return [row for row in self.rows if row.benchmark == benchmark]


def dump(results: Results) -> str:
    """Write as JSON; what is NaN is left out, for JSON has none."""
    content = {"schema": SCHEMA, **dataclasses.asdict(results)}
    return as_json(content)


def as_json(value: Any) -> str:
    """One line of JSON, without the fields that are NaN."""
    return json.dumps(_told(value), ensure_ascii=False, allow_nan=False)


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _told(v) for k, v in value.items() if not (isinstance(v, float) and v != v)}
    return [_told(each) for each in value] if isinstance(value, list | tuple) else value


def load(path: Path) -> Results:
    """Read what `dump` wrote.

    Args:
        path: the file, or the folder that holds ``results.json``.

    Raises:
        UsageError: it is not there, or is something else.
    """
    path = path / "results.json" if path.is_dir() else path
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema") != SCHEMA:
            raise UsageError(f"{path}: is of another version of lgmgc; run the experiment again")
        rows = [RowResult(**row) for row in content.pop("rows")]
        return Results(rows=rows, **content)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path}: is no results of `lgmgc eval run`") from None
