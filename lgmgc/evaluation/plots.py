"""Pictures of results: quality against budget, against seconds, and along θ."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from lgmgc.evaluation.judging import main_measure, recall_within
from lgmgc.evaluation.measures.budget import BUDGETS
from lgmgc.evaluation.results import Results, RowResult
from lgmgc.evaluation.tables import spread
from lgmgc.files.whole_file import WholeFile

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
        UsageError: a file cannot be written.
    """
    from cycler import cycler
    from matplotlib import rc_context, rcParams
    from matplotlib.figure import Figure

    # Past its ten colours matplotlib would begin again with the same.
    cycle = cycler(linestyle=["-", "--", ":"]) * rcParams["axes.prop_cycle"]
    drawn = []
    for benchmark, title in results.benchmarks.items():
        rows = results.on(benchmark)
        for name, draw in (("budget", _budget), ("seconds", _seconds), ("theta", _theta)):
            # Law 4: the same results give the same bytes. A dollar in a name is a dollar.
            with rc_context(
                {
                    "svg.hashsalt": "lgmgc",
                    "text.parse_math": False,
                    "axes.prop_cycle": cycle,
                }
            ):
                figure = Figure(figsize=(7.5, 4.8), layout="constrained")
                axes = figure.add_subplot()
                if draw(axes, results, rows):
                    axes.set_title(title, fontsize=9)
                    axes.grid(alpha=0.3)
                    _save(figure, folder / f"{name}-{benchmark}.svg", metadata={"Date": None})
                    drawn.append(folder / f"{name}-{benchmark}.png")
                    _save(figure, drawn[-1], dpi=120)
    return drawn


def _save(figure: Figure, path: Path, **how: Any) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], **how)
    with WholeFile(path) as file:
        file.write(picture.getvalue())
        file.commit()


def _budget(axes: Axes, results: Results, rows: Sequence[RowResult]) -> bool:
    """The share of the evidence within a budget of tokens, a line for each row."""
    names = [recall_within(budget) for budget in BUDGETS]
    lines = [row for row in rows if row.of(names[0])]
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
    points = [row for row in rows if row.of(measure) and row.settings]
    for number, row in enumerate(points):
        mark = _MARKS[number % len(_MARKS)]
        mean, low, high = spread(row, measure)
        # 0 where there is no interval, or where its end passes the mean in the last bits.
        bar = [[max(0.0, mean - low)], [max(0.0, high - mean)]]
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
    """Rows whose labels are alike but for θ, with θ and the measure's mean."""
    families: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        sign = re.search(r" θ=(\d+)", row.label)
        if sign and (values := row.of(measure)):
            name = row.label.replace(sign[0], "", 1)
            families.setdefault(name, []).append((float(sign[1]), fmean(values.values())))
    yield from families.items()
