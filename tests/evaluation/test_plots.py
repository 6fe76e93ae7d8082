from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.plots import plot_all
from lgmgc.evaluation.results import RowResult
from tests.evaluation.made import results_of, row_result

BUDGETS = {
    f"evidence recall in {budget} tokens": [0.0, 0.5, 1.0] for budget in (500, 1000, 2000, 4000)
}
NAN = float("nan")


def row(label: str, *values: float, **more: object) -> RowResult:
    return row_result(label, {"DCG@20 (folded)": values or (0.0, 0.5, 1.0), **BUDGETS}, **more)


def drawn(folder: Path, *rows: RowResult) -> dict[str, str]:
    """The texts of the pictures by name."""
    pictures = plot_all(results_of(*rows), folder)
    files = sorted(folder.iterdir())
    assert sorted(pictures) == [file for file in files if file.suffix == ".png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    return {file.stem: file.read_text() for file in files if file.suffix == ".svg"}


def labels(svg: str) -> list[str]:
    """Texts of a picture, which matplotlib repeats as comments beside the drawn letters."""
    return [line.strip()[5:-4] for line in svg.splitlines() if line.strip().startswith("<!-- ")]


def test_quality_against_budget_and_seconds(tmp_path: Path) -> None:
    control = row("random", settings={}, cost={})
    found = drawn(tmp_path, row("lg", cost={"seconds": 0.0}), control)
    assert list(found) == ["budget-own", "seconds-own"]
    assert [label for label in labels(found["budget-own"]) if label in ("lg", "random")] == [
        "lg", "random",
    ]  # fmt: skip
    # What is not cut anew has no seconds.
    assert [label for label in labels(found["seconds-own"]) if label in ("lg", "random")] == ["lg"]
    assert "own, made here" in labels(found["budget-own"])


def test_lines_along_theta_only_of_what_has_several(tmp_path: Path) -> None:
    one = drawn(tmp_path, row("lg θ=200"), row("mg θ=300"), row("recursive"))
    assert "theta-own" not in one
    rows = [
        row(f"{name} θ={theta}{signs}")
        for theta in (200, 300)
        for name, signs in (("lg", " signal=eos"), ("random, as lg", ""), ("lg", " signal=topic"))
    ]
    found = labels(drawn(tmp_path, row("mg θ=200"), *rows)["theta-own"])
    assert [label for label in found if "g" in label] == [
        "lg signal=eos", "random, as lg", "lg signal=topic",
    ]  # fmt: skip


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    rows = [row(f"{name} θ={theta}") for theta in (200, 300) for name in ("lg", "mg")]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = drawn(tmp_path / "a", *rows), drawn(tmp_path / "b", *rows)
    assert list(first) == ["budget-own", "seconds-own", "theta-own"]
    assert first == second
    for name in first:
        pictures = [(tmp_path / folder / f"{name}.png").read_bytes() for folder in "ab"]
        assert pictures[0] == pictures[1]


def test_what_has_no_values_is_not_drawn(tmp_path: Path) -> None:
    nothing = row_result("a", {})
    unknown = row_result("b θ=1", {name: [NAN] for name in (*BUDGETS, "DCG@20 (folded)")})
    assert drawn(tmp_path, nothing, unknown) == {}


def test_values_without_an_interval_or_with_names_like_formulas(tmp_path: Path) -> None:
    found = drawn(tmp_path, row("one", 0.5), row("all alike", *[0.1] * 30), row(r"$\nothing$ a$"))
    assert r"$\nothing$ a$" in labels(found["seconds-own"])


def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "budget-own.svg").mkdir()
    with pytest.raises(UsageError, match=r"budget-own\.svg: is not a regular file"):
        plot_all(results_of(row("a")), tmp_path)
