from pathlib import Path

import pytest

from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.benchmark import Evidence, Question
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import json_lines, keeps_the_laws

ASK = {"document": "a.txt", "question": "q"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    (folder / "b").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"One. Two. One.\r\n")
    (folder / "b/c.md").write_bytes(b"Three.")
    return folder


def test_every_form_of_evidence_by_hand(folder: Path) -> None:
    rows = [
        {**ASK, "id": "x", "answers": ["a", "b"], "evidence": "Two."},
        {**ASK, "evidence": {"text": "One."}},  # twice, so it is not said which
        {**ASK, "evidence": {"start": 10, "end": 14}},
        {**ASK, "evidence": ["Three.", {"text": "One.", "start": 10, "end": 14}, "One.\r\n"]},
        {"document": "b/c.md", "question": "q", "evidence": None, "answers": None},
    ]
    json_lines(folder / "questions.jsonl", rows)
    benchmark = load_benchmark("own", folder, language="zh")
    assert keeps_the_laws(benchmark)
    assert (benchmark.title, benchmark.language) == ("mine: 2 documents, 5 questions", "zh")
    assert {each.id: each.text for each in benchmark.documents} == {
        "a.txt": "One. Two. One.\r\n",
        "b/c.md": "Three.",
    }
    name = "a.txt"
    assert benchmark.questions == (
        Question("x", name, "q", ("a", "b"), (Evidence("Two.", (5, 9), name),)),
        Question("2", name, "q", (), (Evidence("One.", None, name),)),
        Question("3", name, "q", (), (Evidence("One.", (10, 14), name),)),
        Question("4", name, "q", (), (
            Evidence("Three.", None, name),
            Evidence("One.", (10, 14), name),
            Evidence("One.\r\n", (10, 16), name),
        )),
        Question("5", "b/c.md", "q"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"document": "c.md"},
            "line 2 needs a 'document' that is the path of one below the folder",
        ),
        ({"question": ""}, "line 2 needs text in the field 'question'"),
        ({"id": "x"}, "line 2 needs another 'id' than the rows above it"),
        ({"answers": "a"}, "line 2 needs a list of texts in the field 'answers'"),
        ({"evidence": 3}, "line 2 needs a list of objects in the field 'evidence'"),
        ({"evidence": " "}, "line 2, evidence 1 needs text in the field 'text'"),
        (
            {"evidence": {"start": 3}},
            "line 2, evidence 1 needs a whole number from 0 in the field 'e",
        ),
        ({"evidence": [{"start": 3, "end": 3}]}, "line 2, evidence 1 needs a start before its end"),
        (
            {"evidence": {"start": 3, "end": 17}},
            "line 2, evidence 1 needs a start before its end, a",
        ),
        (
            {"evidence": {"start": 0, "end": 4, "text": "Two."}},
            "line 2, evidence 1 needs the text that stands in a.txt from its start to its end",
        ),
    ],
)
def test_malformed_rows(folder: Path, fields: dict[str, object], message: str) -> None:
    path = json_lines(folder / "questions.jsonl", [{**ASK, "id": "x"}, {**ASK, **fields}])
    with pytest.raises(DocumentError) as error:
        load_benchmark("own", folder)
    assert str(error.value).startswith(f"{path}: {message}")


def test_files_that_are_missing(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"is not a folder with questions\.jsonl in it"):
        load_benchmark("own", folder)
    json_lines(folder / "questions.jsonl", [])
    with pytest.raises(DocumentError, match="holds no question"):
        load_benchmark("own", folder)
