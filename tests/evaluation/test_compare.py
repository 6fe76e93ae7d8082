from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.compare import compare_results
from lgmgc.evaluation.results import RowResult, dump
from tests.evaluation.made import results_of, row_result

HEAD = [
    "| measure | first | second | difference | 95 % interval | p | n |",
    "|---|---:|---:|---:|---:|---:|---:|",
]


def save(folder: Path, *rows: RowResult) -> str:
    folder.mkdir()
    (folder / "results.json").write_text(dump(results_of(*rows)))
    return str(folder)


def test_two_runs_by_hand(tmp_path: Path) -> None:
    """Two questions are better by 1, one by 0; the fourth was not asked in the first run."""
    first = save(
        tmp_path / "first",
        row_result("lg", {"F1": [0.0, 0.0, 1.0], "Pk": [0.5]}),
        row_result("gone", {"F1": [0.0]}),
    )
    second = save(
        tmp_path / "second",
        row_result("new", {"F1": [0.0]}),
        row_result("lg", {"F1": [1.0, 1.0, 1.0, 0.0], "DCG@1": [0.5]}),
    )
    assert compare_results(first, second).splitlines() == [
        f"# {second} less {first}", "", "## own: lg", "", *HEAD,
        # Of ++, +-, -+, --: two are as large. Of 27 resamples one is all 0, and eight all 1.
        "| F1 | 0.333 | 1.000 | +0.667 | [+0.000, +1.000] | 0.500 | 3 |",
    ]  # fmt: skip
    assert "| F1 | 1.000 | 0.333 | -0.667 | [-1.000, +0.000] | 0.500 | 3 |" in compare_results(
        second, first
    )


def test_the_same_run_twice(tmp_path: Path) -> None:
    first = save(tmp_path / "first", row_result("lg", {"F1": [0.25, 0.5], "Pk": [0.5, 0.25]}))
    lines = compare_results(first, first).splitlines()
    assert lines[-2:] == [
        "| F1 | 0.375 | 0.375 | +0.000 | [+0.000, +0.000] | 1.000 | 2 |",
        "| Pk | 0.375 | 0.375 | +0.000 | [+0.000, +0.000] | 1.000 | 2 |",
    ]


def test_two_rows_whose_labels_have_colons(tmp_path: Path) -> None:
    folder = save(
        tmp_path / "a:b",
        row_result("lgmgc: all pieces", {"F1": [0.0, 1.0]}),
        row_result("mg: all: pieces", {"F1": [1.0, 1.0]}),
        row_result("lgmgc: all pieces", {"F1": [0.0, 0.0]}, benchmark="other"),
    )
    found = compare_results(f"{folder}:lgmgc: all pieces", f"{folder}:mg: all: pieces")
    assert found.splitlines()[2:] == [
        "## own: mg: all: pieces less lgmgc: all pieces", "", *HEAD,
        "| F1 | 0.500 | 1.000 | +0.500 | [+0.000, +1.000] | 1.000 | 2 |",
    ]  # fmt: skip


def test_documents_are_drawn_whole_where_there_are_ten(tmp_path: Path) -> None:
    # 10 documents of 2 questions, of which one is 1 better and the other 1 worse: within each
    # document nothing differs, so that no resample of documents does.
    groups = {f"q{k}": f"d{k // 2}" for k in range(20)}
    first = save(tmp_path / "a", row_result("lg", {"F1": [0.0, 1.0] * 10}, groups=groups))
    second = save(tmp_path / "b", row_result("lg", {"F1": [1.0, 0.0] * 10}, groups=groups))
    assert compare_results(first, second).splitlines()[-1] == (
        "| F1 | 0.500 | 0.500 | +0.000 | [+0.000, +0.000] | 1.000 | 20 |"
    )


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    first = save(tmp_path / "a", row_result("lg", {"F1": [0.0]}))
    second = save(tmp_path / "b", row_result("mg", {"F1": [0.0]}))
    for left, right, said in (
        (first, second, f"{first} and {second} have no row of a benchmark in common"),
        (f"{first}:lg", second, "give two folders, or two rows as FOLDER:LABEL"),
        (first, f"{second}:mg", "give two folders, or two rows as FOLDER:LABEL"),
        (f"{first}:lgg", f"{second}:mg", "have no row of a benchmark in common"),
        (first, str(tmp_path / "c"), f"{tmp_path / 'c'}: cannot be read (No such file"),
        (first, f"{tmp_path / 'c'}:mg", f"{tmp_path / 'c'}: cannot be read (No such file"),
    ):
        with pytest.raises(UsageError) as raised:
            compare_results(left, right)
        assert said in str(raised.value)
