"""Results as files: tables to read, rows to compute with, pictures."""

from __future__ import annotations

import csv
import importlib.util
import io
import math
from pathlib import Path
from statistics import fmean

from lgmgc.errors import UsageError
from lgmgc.evaluation.plots import plot_all
from lgmgc.evaluation.results import Results, as_json, dump
from lgmgc.evaluation.tables import markdown
from lgmgc.files.whole_file import WholeFile

FILES = ("results.md", "results.csv", "questions.jsonl", "results.json")


def check_folder(folder: Path) -> None:
    """Make the folder of results, before anything is run, and see that it can be written to.

    Raises:
        UsageError: it cannot be made or written to, or matplotlib is missing.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib; `pip install 'lgmgc[eval]'`")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be made ({error.strerror or error}); give another --out"
        ) from None
    for name in FILES:
        with WholeFile(folder / name):
            pass


def write(results: Results, folder: Path) -> None:
    """Write ``results.md``, ``results.csv``, ``questions.jsonl``, ``results.json`` and the plots.

    Args:
        results: of an experiment.
        folder: there already; each file appears whole or not at all.

    Raises:
        UsageError: a file cannot be written.
    """
    pictures = plot_all(results, folder)
    texts = (
        markdown(results, [picture.name for picture in pictures]),
        _means(results),
        _questions(results),
        dump(results),
    )
    for name, text in zip(FILES, texts, strict=True):
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
            shown = "" if math.isnan(value) else f"{value:.6g}"
            table.writerow((row.benchmark, row.label, name, shown, ""))
        for name in row.measures:
            values = list(row.of(name).values())
            mean = f"{fmean(values):.6g}" if values else ""
            table.writerow((row.benchmark, row.label, name, mean, len(values)))
    return text.getvalue()


def _questions(results: Results) -> str:
    """One JSON object for each row and question (or document)."""
    return "".join(
        as_json({"benchmark": row.benchmark, "row": row.label, "question": key, **values}) + "\n"
        for row in results.rows
        for key, values in row.values.items()
    )
