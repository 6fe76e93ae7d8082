import json
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.results import load
from lgmgc.evaluation.writing import FILES, check_folder, write
from tests.evaluation.made import results_of, row_result

NAN = float("nan")
RESULTS = results_of(
    row_result("a, b", {"F1": [0.5, 1.0, NAN]}, ceilings={"span": 0.5},
               sizes={"count": 3, "mean": 2.5, "deviation": 0.5, "over": NAN}),
    row_result("é", {}, cost={}, sizes={}),
)  # fmt: skip


def test_all_files(tmp_path: Path) -> None:
    check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []
    write(RESULTS, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == set(FILES)
    assert (tmp_path / "results.md").read_text().startswith("# A trial\n")
    assert (tmp_path / "results.csv").read_text().splitlines() == [
        "benchmark,row,measure,mean,n",
        'own,"a, b",count,3,',
        'own,"a, b",mean,2.5,',
        'own,"a, b",deviation,0.5,',
        'own,"a, b",over,,',
        'own,"a, b",seconds,2,',
        'own,"a, b",words_per_second,15,',
        'own,"a, b",span: ceiling,0.5,',
        'own,"a, b",F1,0.75,2',
    ]
    lines = (tmp_path / "questions.jsonl").read_text().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines] == [
        {"benchmark": "own", "row": "a, b", "question": "q0", "F1": 0.5},
        {"benchmark": "own", "row": "a, b", "question": "q1", "F1": 1.0},
        {"benchmark": "own", "row": "a, b", "question": "q2"},
    ]
    assert [row.label for row in load(tmp_path).rows] == ["a, b", "é"]


def test_a_folder_is_made_where_there_is_none(tmp_path: Path) -> None:
    check_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "a"):
        with pytest.raises(UsageError) as raised:
            check_folder(folder)
        assert str(raised.value).startswith(f"{folder}: cannot be made (")
        assert str(raised.value).endswith("); give another --out")
    (tmp_path / "out" / "results.json").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"results\.json: is not a regular file"):
        check_folder(tmp_path / "out")
    with pytest.raises(UsageError, match=r"^/proc/lgmgc: cannot be made"):
        check_folder(Path("/proc/lgmgc"))


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"^plots need matplotlib; `pip install 'lgmgc\[eval\]'`$"):
        check_folder(tmp_path / "a")
    assert not (tmp_path / "a").exists()
