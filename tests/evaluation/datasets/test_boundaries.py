from pathlib import Path

import pytest

from lgmgc.errors import DocumentError
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import json_lines, keeps_the_laws

TEXT = "One is here. Two is there. Three."
#       0            13            27    33


def test_by_hand(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": TEXT, "boundaries": [27]},
        {"id": "b", "text": TEXT, "boundaries": [0, 5, 33]},
        {"id": "c", "text": TEXT, "boundaries": [13], "units": [13, 20]},
        {"id": "d", "text": TEXT, "boundaries": []},
    ]
    path = json_lines(tmp_path / "x.jsonl", rows)
    benchmark = load_benchmark("boundaries", path, language="de")
    assert keeps_the_laws(benchmark)
    assert (benchmark.title, benchmark.language) == ("x.jsonl: 4 documents", "de")
    assert benchmark.boundaries == {
        "a": ((0, 27), (27, 33)),
        "b": ((0, 5), (5, 33)),
        "c": ((0, 13), (13, 33)),
        "d": ((0, 33),),
    }
    assert benchmark.units == {
        "a": (13, 27, 33),
        "b": (5, 13, 27, 33),  # inside a sentence, yet it may lie there: it does
        "c": (13, 20, 33),
        "d": (13, 27, 33),
    }


@pytest.mark.parametrize(
    ("fields", "needs"),
    [
        ({"id": "a"}, "another 'id' than the rows above it"),
        ({"text": " "}, "text in the field 'text'"),
        ({"boundaries": [34]}, "rising offsets up to its text's length in the field 'boundaries'"),
        (
            {"boundaries": [5, 5]},
            "rising offsets up to its text's length in the field 'boundaries'",
        ),
        ({"boundaries": [1.5]}, "a list of whole numbers from 0 in the field 'boundaries'"),
        ({"units": [9, 3]}, "rising offsets up to its text's length in the field 'units'"),
        ({"units": [26, 33]}, "each of its 'boundaries' among its 'units'"),
    ],
)
def test_malformed_rows(tmp_path: Path, fields: dict[str, object], needs: str) -> None:
    row: dict[str, object] = {"id": "a", "text": TEXT, "boundaries": [27]}
    path = json_lines(tmp_path / "x.jsonl", [row, {**row, "id": "b", **fields}])
    with pytest.raises(DocumentError) as error:
        load_benchmark("boundaries", path)
    assert str(error.value) == f"{path}: line 2 needs {needs}"


def test_no_row(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="holds no row"):
        load_benchmark("boundaries", json_lines(tmp_path / "x.jsonl", []))
