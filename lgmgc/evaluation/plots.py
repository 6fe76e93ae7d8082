"""Pictures of results: quality against budget, against seconds, and along θ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from lgmgc.errors import UsageError
from lgmgc.evaluation.judging import main_measure, recall_within
from lgmgc.evaluation.measures.budget import BUDGETS
from lgmgc.evaluation.results import Results, RowResult
from lgmgc.evaluation.tables import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = "osD^vPX*<>hp"


def plot_all(results: Results, folder: Path) -> list[Path]:
    """Draw what the results allow, as SVG and PNG.

    Args:
        results: of an experiment.
        folder: where the files go.

    Returns:
        The PNG files.

    Raises:
        UsageError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("plots need matplotlib; `pip install 'lgmgc[eval]'`") from None
    import matplotlib

    # Law 4: the same results give the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = "lgmgc"
    drawn = []
    for benchmark, title in results.benchmarks.items():
        rows = results.on(benchmark)
        for name, draw in (("budget", _budget), ("seconds", _seconds), ("theta", _theta)):
            figure = Figure(figsize=(7.5, 4.8), layout="constrained")
            axes = figure.add_subplot()
            if draw(axes, results, rows):
                axes.set_title(title, fontsize=9)
                axes.grid(alpha=0.3)
                drawn.append(_save(figure, folder / f"{name}-{benchmark}"))
    return drawn


def _save(figure: Figure, path: Path) -> Path:
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=120)
    return path.with_suffix(".png")


def _budget(axes: Axes, results: Results, rows: Sequence[RowResult]) -> bool:
    """The share of the evidence within a budget of tokens, a line for each row."""
    names = [recall_within(budget) for budget in BUDGETS]
    lines = [row for row in rows if names[0] in row.measures]
    for number, row in enumerate(lines):
        values = [fmean(row.of(name).values()) for name in names]
        axes.plot(BUDGETS, values, marker=_MARKS[number % len(_MARKS)], label=row.label, lw=1.2)
    axes.set_xlabel("tokens given to the reader, parents charged whole")
    axes.set_ylabel("share of the evidence among them")
    if lines:
        axes.legend(fontsize=7, frameon=False)
    return bool(lines)


def _seconds(axes: Axes, results: Results, rows: Sequence[RowResult]) -> bool:
    """Quality against the time that cutting takes, a point for each row."""
    measure = main_measure(results.rule)
    points = [row for row in rows if measure in row.measures and row.settings]
    for number, row in enumerate(points):
        mark = _MARKS[number % len(_MARKS)]
        mean, low, high = spread(row, measure)
        bar = [[mean - low], [high - mean]]
        seconds = max(row.cost["seconds"], 1e-3)
        axes.errorbar([seconds], [mean], bar, fmt=mark, label=row.label, lw=0.8, capsize=2)
    axes.set_xscale("log")
    axes.set_xlabel("seconds to cut")
    axes.set_ylabel(f"{measure}, 95 % interval")
    if points:
        axes.legend(fontsize=7, frameon=False)
    return bool(points)


def _theta(axes: Axes, results: Results, rows: Sequence[RowResult]) -> bool:
    """Quality along θ, a line for each method that was run with several."""
    measure = main_measure(results.rule)
    lines = {name: some for name, some in _families(rows, measure) if len(some) > 1}
    for number, (name, some) in enumerate(lines.items()):
        mark = _MARKS[number % len(_MARKS)]
        axes.plot(*zip(*some, strict=True), marker=mark, label=name, lw=1.2)
    axes.set_xlabel("θ, words")
    axes.set_ylabel(measure)
    if lines:
        axes.legend(fontsize=7, frameon=False)
    return bool(lines)


def _families(
    rows: Sequence[RowResult], measure: str
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    names = dict.fromkeys(row.label.split(" θ=")[0] for row in rows if " θ=" in row.label)
    for name in names:
        yield (
            name,
            [
                (float(row.label.rsplit("=", 1)[1]), fmean(row.of(measure).values()))
                for row in rows
                if row.label.startswith(f"{name} θ=") and measure in row.measures
            ],
        )
