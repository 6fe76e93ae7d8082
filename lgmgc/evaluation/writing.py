"""Results as files: tables to read, rows to compute with, pictures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from statistics import fmean

from lgmgc.errors import UsageError
from lgmgc.evaluation.plots import plot_all
from lgmgc.evaluation.results import Results, dump
from lgmgc.evaluation.tables import markdown
from lgmgc.files.writer import WholeFile


def check_folder(folder: Path) -> None:
    """Make the folder of results, before anything is run.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be made ({error.strerror or error}); give another --out"
        ) from None


def write(results: Results, folder: Path) -> None:
    """Write ``results.md``, ``results.csv``, ``questions.jsonl``, ``results.json`` and the plots.

    Args:
        results: of an experiment.
        folder: there already; each file appears whole or not at all.

    Raises:
        UsageError: a file cannot be written, or matplotlib is missing.
    """
    pictures = plot_all(results, folder)
    files = {
        "results.md": markdown(results, [picture.name for picture in pictures]),
        "results.csv": _means(results),
        "questions.jsonl": _questions(results),
        "results.json": dump(results),
    }
    for name, text in files.items():
        with WholeFile(folder / name) as file:
            file.write(text.encode("utf-8"))
            file.commit()


def _means(results: Results) -> str:
    """One line for each row and measure: its mean, and over how many questions or documents."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("benchmark", "row", "measure", "mean", "n"))
    for row in results.rows:
        alone = {**row.sizes, **row.cost, **{f"{k}: ceiling": v for k, v in row.ceilings.items()}}
        for name, value in alone.items():
            table.writerow((row.benchmark, row.label, name, f"{value:.6g}", ""))
        for name in row.measures:
            values = list(row.of(name).values())
            mean = f"{fmean(values):.6g}" if values else ""
            table.writerow((row.benchmark, row.label, name, mean, len(values)))
    return text.getvalue()


def _questions(results: Results) -> str:
    """One JSON object for each row and question (or document)."""
    return "".join(
        json.dumps(
            {"benchmark": row.benchmark, "row": row.label, "question": key, **values},
            ensure_ascii=False,
        )
        + "\n"
        for row in results.rows
        for key, values in row.values.items()
    )
