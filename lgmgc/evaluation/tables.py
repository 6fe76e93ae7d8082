"""Results as Markdown: tables, and under each what can be told apart and what cannot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from lgmgc.evaluation.judging import by_rule, main_measure, recall_within
from lgmgc.evaluation.measures.budget import BUDGETS
from lgmgc.evaluation.measures.relevance import Rule
from lgmgc.evaluation.measures.statistics import Difference, compare, interval
from lgmgc.evaluation.results import Results, RowResult

RULES: dict[Rule, str] = {
    "lowered": "the first chunk that contains the evidence, lower-cased (GutenQA's own rule)",
    "folded": "the first chunk that contains the evidence, with case, quotes, dashes, punctuation "
    "and white space made alike",
    "span": "the first chunk that covers where the evidence stands",
    "rouge": "the chunk with the highest ROUGE-L recall of the evidence (the paper's relabelling)",
}

SHOWN = (1, 5, 20)
"""The k of the columns; the CSV file has all."""

_OTHERS: dict[str, dict[str, str]] = {
    "At equal cost: the share of the evidence within a budget of tokens": {
        recall_within(budget): f"{budget:,}" for budget in BUDGETS
    },
    "At equal cost: how much of what is delivered is evidence": {
        f"evidence precision in {budget} tokens": f"{budget:,}" for budget in BUDGETS
    },
    "Characters of the five best parents, by Chroma's definitions": {
        "character iou@5": "IoU",
        "character recall@5": "recall",
        "character precision@5": "precision",
        "precision omega": "precision Ω",
    },
    "Answers": {"F1 of answers": "F1"},
    "Segmentation (Pk, WindowDiff: 0 is best; F1: 1 is best)": {
        "Pk": "Pk",
        "WindowDiff": "WindowDiff",
        "F1": "F1",
        "boundaries per gold one": "boundaries per gold one",
    },
}


def markdown(results: Results, pictures: Sequence[str] = ()) -> str:
    """Write all tables of an experiment.

    Args:
        results: of it.
        pictures: file names of its plots.
    """
    lines = [f"# {results.title}", "", *_made(results)]
    for name, title in results.benchmarks.items():
        rows = results.on(name)
        if rows:
            lines += ["", f"## {title}", *_benchmark(results, rows)]
    for picture in pictures:
        lines += ["", f"![{picture.removesuffix('.png')}]({picture})"]
    return "\n".join(lines) + "\n"


def _benchmark(results: Results, rows: Sequence[RowResult]) -> Iterator[str]:
    yield from _cost_table(rows)
    measured = {name for row in rows for name in row.measures}
    for rule in sorted(RULES, key=lambda rule: rule != results.rule):
        heads = {by_rule(rule, f"{m}@{k}"): f"{m}@{k}" for m in ("DCG", "Recall") for k in SHOWN}
        if main_measure(rule) in measured:
            yield from ("", f"### Retrieval: {RULES[rule]}", "")
            yield from _table(results, rows, heads, main_measure(rule), rule)
    for title, heads in _OTHERS.items():
        tested = next(iter(heads))
        if tested in measured:
            yield from ("", f"### {title}", "")
            yield from _table(results, rows, heads, tested)


def _cost_table(rows: Sequence[RowResult]) -> Iterator[str]:
    rows = [row for row in rows if row.sizes]
    if not rows:
        return
    yield from ("", "### Sizes and cost", "")
    columns = {
        head: cells for head, show in _COLUMNS.items() if any(cells := [show(row) for row in rows])
    }
    yield from _heads(["chunks", *columns])
    for number, row in enumerate(rows):
        yield _line([row.label, *(cells[number] for cells in columns.values())])


def _shown(key: str, form: str, divisor: float = 1.0) -> Callable[[RowResult], str]:
    def show(row: RowResult) -> str:
        return format(row.cost[key] / divisor, form) if key in row.cost and row.settings else ""

    return show


def _over(share: float) -> str:
    """Never 0 % where one of thousands is over."""
    return "" if math.isnan(share) else f"{share:.2%}" if share else "0%"


_COLUMNS: dict[str, Callable[[RowResult], str]] = {
    "parents": lambda row: f"{row.sizes['count']:,.0f}",
    "words a parent": lambda row: f"{row.sizes['mean']:.0f} ± {row.sizes['deviation']:.0f}",
    "over θ": lambda row: _over(row.sizes.get("over", math.nan)),
    "seconds to cut": _shown("seconds", ",.1f"),
    "words/s": _shown("words_per_second", ",.0f"),
    "model tokens a token": _shown("model_tokens_per_token", ".2f"),
    "retries": _shown("retries", ",.0f"),
    "fall-backs": _shown("fallbacks", ",.0f"),
    "seconds to embed": _shown("index_seconds", ",.1f"),
    "alone: seconds to load": _shown("loading_seconds", ",.1f"),
    "to cut": _shown("alone_seconds", ",.1f"),
    "peak memory, GiB": _shown("peak_bytes", ".2f", 2**30),
    "found by parents / children of level 1 / 2": lambda row: " / ".join(
        f"{row.levels.get(level, 0):.0%}" for level in "012" if row.levels
    ),
}


def _table(
    results: Results,
    rows: Sequence[RowResult],
    heads: Mapping[str, str],
    tested: str,
    rule: Rule | None = None,
) -> Iterator[str]:
    """Means; for the measure that is tested also the interval, and the difference to the baseline.

    Args:
        results: name the baseline.
        rows: of one benchmark.
        heads: measures and the heads of their columns.
        tested: one of the measures.
        rule: that the measures are by; its ceiling is shown.
    """
    rows = [row for row in rows if row.of(tested)]
    base = next((row for row in rows if row.label == results.baseline), None)
    cells = ["chunks", *(["ceiling"] if rule else []), *heads.values()]
    if base:
        cells += [f"{heads[tested]} less {base.label}'s", "p"]
    yield from _heads(cells)
    apart: dict[str, Difference] = {}
    for row in rows:
        cells = [row.label, *([f"{row.ceilings[rule]:.2f}"] if rule else [])]
        cells += [_mean(row, name, name == tested) for name in heads]
        if base and row is not base:
            difference = apart[row.label] = _against(row, base, tested)
            cells += [_signed(difference), f"{difference.p:.3f}"]
        elif base:
            cells += ["", ""]
        yield _line(cells)
    yield ""
    yield _drawn(rows, tested)
    if base:
        yield "p: paired permutation test, not corrected for the number of rows."
        yield from _told(apart, base.label)
    elif len(rows) > 1:
        yield "No baseline is among them: **no** difference is tested, so the order tells nothing."


def _drawn(rows: Sequence[RowResult], name: str) -> str:
    """Of how many questions or documents means are, and what their intervals are drawn from."""
    counts = sorted({len(row.of(name)) for row in rows})
    keys = {(key, row.groups.get(key)) for row in rows for key in row.of(name)}
    unit = "questions" if any(document is not None for _, document in keys) else "documents"
    documents = sorted({key if document is None else document for key, document in keys})
    over = "whole documents" if groups_of(documents) else f"{unit}, which hold for these documents"
    return (
        f"Means of {' to '.join(f'{count:,}' for count in counts)} {unit}; "
        f"brackets: 95 % bootstrap intervals over {over}."
    )


def _told(apart: dict[str, Difference], base: str) -> Iterator[str]:
    """Which rows differ from the baseline; a table must not seem to rank what it cannot."""
    sure = [label for label, d in apart.items() if (d.low > 0 or d.high < 0) and d.p < 0.05]
    unsure = [label for label in apart if label not in sure]
    if sure:
        yield f"Told apart from {base} (the paired difference's interval leaves 0 out, p < 0.05): "
        yield f"{'; '.join(sure)}."
    if unsure:
        yield f"**Not** told apart from {base}, whatever the order of their means: "
        yield f"{'; '.join(unsure)}."


def _against(row: RowResult, base: RowResult, name: str) -> Difference:
    ours, theirs = row.of(name), base.of(name)
    keys = [key for key in ours if key in theirs]
    groups = [row.groups.get(key, key) for key in keys]
    return compare([ours[key] for key in keys], [theirs[key] for key in keys], groups_of(groups))


def groups_of(groups: Sequence[str]) -> Sequence[str] | None:
    """Documents to be drawn whole; None where there are too few for that to tell anything.

    >>> groups_of(["a", "b"]) is None
    True
    """
    return groups if len(set(groups)) >= 10 else None


def spread(row: RowResult, name: str) -> tuple[float, float, float]:
    """The mean of a measure, and the ends of its 95 % interval."""
    values = row.of(name)
    groups = [row.groups.get(key, key) for key in values]
    found = interval(list(values.values()), groups_of(groups))
    return found.mean, found.low, found.high


def _mean(row: RowResult, name: str, interval_too: bool) -> str:
    if not row.of(name):
        return ""
    if not interval_too:
        return f"{fmean(row.of(name).values()):.3f}"
    mean, low, high = spread(row, name)
    return f"{mean:.3f}" if math.isnan(low) else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _signed(difference: Difference) -> str:
    mean, low, high = (f"{v:+.3f}" for v in (difference.mean, difference.low, difference.high))
    return mean if math.isnan(difference.low) else f"{mean} [{low}, {high}]"


def _made(results: Results) -> Iterator[str]:
    made = results.made
    if not made:
        return
    models = [
        f"{m['name']} in {m['precision']} ({m['weights_sha256'][:12]})" for m in made["models"]
    ]
    embedder = made["embedder"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    where = f"{made['cores']} cores of {made['processor']}"
    yield f"`lgmgc eval run` of {results.name}, {made['date']}, on {where}."
    yield f"Models: {', '.join(models) or 'none'};"
    told = f"{embedder['name']} ({embedder['identity'][:12]})" if embedder else "none"
    yield f"embedder: {told}."
    yield f"Versions: {versions}."
    yield "Seconds are model time as measured when each request was first made, and all other time."


def _heads(heads: Sequence[str]) -> Iterator[str]:
    yield _line(heads)
    yield "|---" + "|---:" * (len(heads) - 1) + "|"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
