import json
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.results import RowResult, as_json, dump, load
from tests.evaluation.made import results_of, row_result

NAN = float("nan")
ROW = row_result(
    "a", {"F1": [0.5, 1.0], "Pk": [0.25]},
    ceilings={"span": 0.5}, levels={"0": 0.25, "1": 0.75}, settings={"theta": 300, "children": [2]},
)  # fmt: skip


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = results_of(ROW, row_result("é|", {}), made={"date": "2026-01-01", "models": []})
    path = tmp_path / "results.json"
    path.write_text(dump(written), encoding="utf-8")
    for place in (path, tmp_path):
        read = load(place)
        assert list(read.rows) == list(written.rows)
        assert (read.name, read.title, read.benchmarks) == ("trial", "A trial", written.benchmarks)
        assert (read.baseline, read.rule, read.made) == ("base", "folded", written.made)
        assert dump(read) == dump(written)


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    row = row_result("a", {"F1": [NAN, 1.0]}, sizes={"count": 0, "mean": NAN})
    path = tmp_path / "results.json"
    path.write_text(dump(results_of(row)))
    [read] = load(path).rows
    assert read.values == {"q0": {}, "q1": {"F1": 1.0}}
    assert read.sizes == {"count": 0}
    assert as_json({"a": NAN, "b": [{"c": NAN, "d": 1}]}) == '{"b": [{"d": 1}]}'


def test_values_of_one_measure() -> None:
    row = row_result("a", {"F1": [0.5, NAN, 1.0], "Pk": [0.25]})
    assert row.of("F1") == {"q0": 0.5, "q2": 1.0}
    assert row.of("Pk") == {"q0": 0.25}
    assert row.of("DCG@1") == {}
    assert row.measures == ("F1", "Pk")


def test_rows_of_one_benchmark() -> None:
    other = row_result("a", {}, benchmark="other")
    assert results_of(ROW, other).on("other") == [other]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is no results of `lgmgc eval run`"),
        (b"\xff", "is no results of `lgmgc eval run`"),
        (b"[]", "is no results of `lgmgc eval run`"),
        (b"{}", "is no results of `lgmgc eval run`"),
        (b'{"schema": 1, "rows": [{"label": "a"}]}', "is no results of `lgmgc eval run`"),
        (b'{"schema": 1, "rows": [], "x": 1}', "is no results of `lgmgc eval run`"),
        (b'{"schema": 2}', "is of another version of lgmgc; run the experiment again"),
    ],
)
def test_another_file_is_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        load(tmp_path)
    assert str(raised.value) == f"{path}: {said}"


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"results.json: cannot be read \(No such file"):
        load(tmp_path)
    with pytest.raises(UsageError, match=r"nowhere: cannot be read \(No such file"):
        load(tmp_path / "nowhere")


def test_the_fields_of_a_row_are_plain() -> None:
    assert json.loads(dump(results_of(ROW)))["rows"][0]["levels"] == {"0": 0.25, "1": 0.75}
    assert RowResult("a", "own", {}, {}, {}).measures == ()
