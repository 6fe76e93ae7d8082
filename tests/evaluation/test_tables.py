from typing import Any

import pytest

from lgmgc.evaluation.results import Results, RowResult
from lgmgc.evaluation.tables import markdown
from tests.evaluation.made import results_of, row_result

NAN = float("nan")


def table(text: str, title: str) -> list[list[str]]:
    """The cells of the table under a head."""
    lines = text[text.index(f"### {title}") :].splitlines()[2:]
    rows = lines[: lines.index("") if "" in lines else None]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows]


def under(text: str, title: str) -> str:
    """What is said under the table under a head."""
    return text[text.index(f"### {title}") :].split("\n\n")[2].strip()


def answers(label: str, *values: float, **more: Any) -> RowResult:
    return row_result(label, {"F1 of answers": values}, **more)


def said(*rows: RowResult, baseline: str | None = "base") -> str:
    return under(markdown(results_of(*rows, baseline=baseline)), "Answers")


SAME = answers("base", *[0.0, 1.0] * 6)


def test_a_difference_whose_interval_leaves_0_out_is_told_apart() -> None:
    # Six of twelve questions are better: by chance one time in 32.
    better = answers("better", *[0.5, 1.0] * 3, *[0.5, 0.5] * 3)
    found = said(SAME, better, answers("all", *[1.0] * 12))
    assert found.endswith(
        "Told apart from base (the paired difference's interval leaves 0 out, p < 0.05): "
        "\nall."
        "\n**Not** told apart from base, whatever the order of their means: \nbetter."
    )


def test_a_difference_whose_interval_holds_0_is_not_told_apart() -> None:
    # One question of twelve differs: it is in no resample about one time in three.
    hardly = answers("hardly", 0.5, *[1.0, 0.0] * 5, 1)
    found = said(SAME, answers("twin", *[0.0, 1.0] * 6), hardly)
    assert "Told apart" not in found
    assert found.endswith(
        "**Not** told apart from base, whatever the order of their means: \ntwin; hardly."
    )


def test_an_interval_that_few_questions_make_too_narrow_is_not_enough() -> None:
    # Four of eight, all better: the interval leaves 0 out, but it is chance one time in eight.
    found = said(answers("base", *[0.0, 1.0] * 4), answers("all", *[1.0] * 8))
    assert "Told apart" not in found


def test_where_all_are_told_apart_nothing_else_is_said() -> None:
    found = said(SAME, answers("all", *[1.0] * 12))
    assert "**Not** told apart" not in found


def test_means_intervals_and_differences() -> None:
    rows = (answers("base", 0.0, 1.0), answers("b", 1.0, 1.0), answers("one", 0.5))
    cells = table(markdown(results_of(*rows)), "Answers")
    assert cells[0] == ["chunks", "F1", "F1 less base's", "p"]
    assert cells[2:] == [
        ["base", "0.500 [0.000, 1.000]", "", ""],
        ["b", "1.000 [1.000, 1.000]", "+0.500 [+0.000, +1.000]", "1.000"],
        # A single question has no interval; it is compared with its own in the baseline.
        ["one", "0.500", "+0.500", "1.000"],
    ]
    assert said(*rows).startswith("Means of 1 to 2 questions; brackets: 95 % bootstrap intervals ")


def test_without_the_baseline_no_order_is_claimed() -> None:
    rows = (answers("a", 0.0, 1.0), answers("b", 1.0, 1.0))
    for baseline in (None, "base"):
        found = markdown(results_of(*rows, baseline=baseline))
        assert table(found, "Answers")[0] == ["chunks", "F1"]
        assert "**no** difference is tested" in under(found, "Answers")
    alone = said(rows[0], baseline=None)
    assert "difference" not in alone


def test_rows_without_values_are_left_out() -> None:
    rows = (answers("a", 0.0, 1.0), answers("none"), answers("unknown", NAN, NAN), SAME)
    assert [cells[0] for cells in table(markdown(results_of(*rows)), "Answers")[2:]] == [
        "a",
        "base",
    ]
    assert "### Answers" not in markdown(results_of(answers("none")))


def test_what_intervals_are_drawn_from() -> None:
    few = answers("a", 0.0, 1.0)
    assert said(few).startswith(
        "Means of 2 questions; brackets: 95 % bootstrap intervals over questions, which hold for "
        "these documents."
    )
    many = answers("a", *[0.0, 1.0] * 6, groups={f"q{k}": f"d{k}" for k in range(12)})
    assert said(many).startswith(
        "Means of 12 questions; brackets: 95 % bootstrap intervals over whole documents."
    )
    # Of a segmentation the documents are what is measured; its keys are no questions.
    cut = row_result("a", {"Pk": [0.5, 0.25], "WindowDiff": [0.5, 0.5], "F1": [1, 0]}, groups={})
    found = under(markdown(results_of(cut)), "Segmentation")
    assert found.startswith("Means of 2 documents; brackets: 95 % bootstrap intervals over documen")


def retrieval(label: str, *values: float, **more: Any) -> RowResult:
    names = [f"{name}@{k} ({rule})" for rule in ("folded", "rouge") for name in ("DCG", "Recall")
             for k in (1, 2, 5, 10, 20)]  # fmt: skip
    ceilings = {"folded": 0.75, "rouge": 1.0}
    return row_result(label, dict.fromkeys(names, values), ceilings=ceilings, **more)


def test_the_rule_of_the_experiment_comes_first() -> None:
    heads = [
        line for line in markdown(results_of(retrieval("base", 0.5, 1.0))).splitlines()
        if line.startswith("### Retrieval")
    ]  # fmt: skip
    assert heads == [
        "### Retrieval: the first chunk that contains the evidence, with case, quotes, dashes, "
        "punctuation and white space made alike",
        "### Retrieval: the chunk with the highest ROUGE-L recall of the evidence (the paper's "
        "relabelling)",
    ]


def test_retrieval_has_its_ceiling() -> None:
    cells = table(markdown(results_of(retrieval("base", 0.5, 1.0))), "Retrieval: the first")
    assert cells[0] == [
        "chunks", "ceiling", "DCG@1", "DCG@5", "DCG@20", "Recall@1", "Recall@5", "Recall@20",
        "DCG@20 less base's", "p",
    ]  # fmt: skip
    assert cells[2] == [
        "base", "0.75", "0.750", "0.750", "0.750 [0.500, 1.000]", "0.750", "0.750", "0.750", "", "",
    ]  # fmt: skip


def sizes(*rows: RowResult) -> list[list[str]]:
    return table(markdown(results_of(*rows)), "Sizes and cost")


def test_sizes_and_cost() -> None:
    cost = {
        "seconds": 3723.04, "words_per_second": 1234.5, "model_tokens_per_token": 1.456,
        "index_seconds": 2.0, "peak_bytes": 2.0**31, "loading_seconds": 1.0, "alone_seconds": 9.0,
        "retries": 1, "fallbacks": 2000,
    }  # fmt: skip
    measured = {"count": 1234, "mean": 199.6, "deviation": 20.4, "over": 0.0004}
    row = row_result("a", {}, sizes=measured, cost=cost, levels={"0": 0.25, "2": 0.75})
    head, _, cells = sizes(row)
    assert dict(zip(head, cells, strict=True)) == {
        "chunks": "a", "parents": "1,234", "words a parent": "200 ± 20", "over θ": "0.04%",
        "seconds to cut": "3,723.0", "words/s": "1,234", "model tokens a token": "1.46",
        "retries": "1", "fall-backs": "2,000", "seconds to embed": "2.0",
        "alone: seconds to load": "1.0", "to cut": "9.0", "peak memory, GiB": "2.00",
        "found by parents / children of level 1 / 2": "25% / 0% / 75%",
    }  # fmt: skip


def test_what_is_not_cut_anew_shows_no_seconds_and_no_limit() -> None:
    control = row_result(
        "c", {}, settings={}, cost={"seconds": 0.1, "words_per_second": 9.0, "index_seconds": 1.0},
        sizes={"count": 2, "mean": 3.0, "deviation": 0.0, "over": NAN},
    )  # fmt: skip
    head, _, first, second = sizes(row_result("a", {}), control)
    assert head == ["chunks", "parents", "words a parent", "over θ", "seconds to cut", "words/s"]
    assert first == ["a", "3", "10 ± 2", "0%", "2.0", "15"]
    assert second == ["c", "2", "3 ± 0", "", "", ""]


def test_rows_that_read_no_chunk_have_no_sizes() -> None:
    closed = answers("closed", 1.0, 0.0, sizes={}, cost={}, settings={})
    found = markdown(results_of(closed, SAME))
    assert [cells[0] for cells in table(found, "Sizes and cost")[2:]] == ["base"]
    assert [cells[0] for cells in table(found, "Answers")[2:]] == ["closed", "base"]
    assert "### Sizes" not in markdown(results_of(closed))


def test_a_bar_in_a_label_does_not_break_the_table() -> None:
    [*_, cells] = sizes(row_result("a|b", {}))
    assert cells[0] == "a&#124;b"


MADE = {
    "date": "2026-01-02", "processor": "Chip", "cores": 2, "system": "S",
    "versions": {"lgmgc": "0.1", "torch": "2"},
    "models": [{"name": "m", "weights_sha256": "0123456789abcdef", "precision": "bf16",
                "device": "cpu"}],
    "embedder": {"name": "e", "identity": "fedcba9876543210"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (MADE, "Models: m in bf16 (0123456789ab);\nembedder: e (fedcba987654).\n"),
        ({**MADE, "models": [], "embedder": None}, "Models: none;\nembedder: none.\n"),
    ],
)
def test_what_results_were_made_with(made: dict[str, Any], told: str) -> None:
    found = markdown(results_of(SAME, made=made), ["budget-own.png"])
    assert found.startswith(
        "# A trial\n\n`lgmgc eval run` of trial, 2026-01-02, on 2 cores of Chip.\n"
        f"{told}Versions: lgmgc 0.1, torch 2.\nSeconds are model time as measured when each "
    )
    assert "\n## own, made here\n" in found
    assert found.endswith("\n\n![budget-own](budget-own.png)\n")


def test_a_benchmark_without_rows_has_no_head() -> None:
    empty = Results("n", "t", {"own": "Own"}, None, "folded", [])
    assert markdown(empty) == "# t\n\n"
