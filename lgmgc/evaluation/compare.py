"""Two runs side by side: paired differences of the rows that both have, or of two rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lgmgc.errors import UsageError
from lgmgc.evaluation.measures.statistics import compare
from lgmgc.evaluation.results import Results, RowResult, load
from lgmgc.evaluation.tables import groups_of


def compare_results(first: str, second: str) -> str:
    """A Markdown table of the second less the first, for every measure of every common row.

    Args:
        first: a folder of results, or ``FOLDER:LABEL`` for one row of it.
        second: as ``first``.

    Raises:
        UsageError: one is not there, or they have nothing in common.
    """
    (left, left_label), (right, right_label) = _opened(first), _opened(second)
    if (left_label is None) != (right_label is None):
        raise UsageError("give two folders, or two rows as FOLDER:LABEL")
    lines = [f"# {second} less {first}"]
    for benchmark in left.benchmarks:
        for ours, theirs in _pairs(
            left.on(benchmark), right.on(benchmark), left_label, right_label
        ):
            name = ours.label if left_label is None else f"{theirs.label} less {ours.label}"
            lines += ["", f"## {benchmark}: {name}", "", *_table(ours, theirs)]
    if len(lines) == 1:
        raise UsageError(f"{first} and {second} have no row of a benchmark in common")
    return "\n".join(lines)


def _opened(given: str) -> tuple[Results, str | None]:
    if Path(given).exists() or ":" not in given:
        return load(Path(given)), None
    # Both a path and a label may have colons; the path is the first part that is there.
    ends = [k for k, character in enumerate(given) if character == ":"]
    end = next((k for k in ends if k and Path(given[:k]).exists()), ends[-1])
    return load(Path(given[:end])), given[end + 1 :]


def _pairs(
    left: list[RowResult], right: list[RowResult], left_label: str | None, right_label: str | None
) -> Iterator[tuple[RowResult, RowResult]]:
    for ours in left:
        for theirs in right:
            same = (
                ours.label == theirs.label
                if left_label is None
                else (ours.label == left_label and theirs.label == right_label)
            )
            if same:
                yield ours, theirs


def _table(ours: RowResult, theirs: RowResult) -> Iterator[str]:
    yield "| measure | first | second | difference | 95 % interval | p | n |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in ours.measures:
        before, after = ours.of(name), theirs.of(name)
        keys = [key for key in before if key in after]
        if not keys:
            continue
        groups = groups_of([ours.groups.get(key, key) for key in keys])
        found = compare([after[key] for key in keys], [before[key] for key in keys], groups)
        first = sum(before[key] for key in keys) / len(keys)
        yield (
            f"| {name} | {first:.3f} | {first + found.mean:.3f} | {found.mean:+.3f} "
            f"| [{found.low:+.3f}, {found.high:+.3f}] | {found.p:.3f} | {len(keys)} |"
        )
