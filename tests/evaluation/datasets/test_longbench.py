from pathlib import Path

import pytest

from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Question
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import json_lines, keeps_the_laws, shared


def row(
    name: str, context: str, dataset: str = "qasper", language: str = "en"
) -> dict[str, object]:
    return {
        "input": f"ask {name}",
        "context": context,
        "answers": [name, "yes"],
        "length": 1,
        "dataset": dataset,
        "language": language,
        "all_classes": None,
        "_id": name,
    }


def test_rows_share_a_document_by_hand(tmp_path: Path) -> None:
    rows = [row("a", "One."), row("b", "Two."), row("c", "One.")]
    benchmark = load_benchmark("longbench", json_lines(tmp_path / "qasper.jsonl", rows))
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "LongBench qasper: 2 documents, 3 questions"
    assert [(each.id, each.text) for each in benchmark.documents] == [
        ("qasper/1", "One."),
        ("qasper/2", "Two."),
    ]
    assert benchmark.questions[2] == Question("c", "qasper/1", "ask c", ("c", "yes"))
    assert [each.document for each in benchmark.questions] == ["qasper/1", "qasper/2", "qasper/1"]
    assert load_benchmark("longbench", tmp_path).questions == benchmark.questions
    two = load_benchmark("longbench", tmp_path, limit=2)
    assert two.title == "LongBench qasper: 2 documents, 3 questions; the first 2 questions"
    assert [each.id for each in two.questions] == ["a", "b"]
    one = load_benchmark("longbench", tmp_path, limit=1)
    assert [each.id for each in one.documents] == ["qasper/1"]


@pytest.mark.parametrize(
    ("dataset", "title"),
    [
        ("multifieldqa_zh", "LongBench multifieldqa_zh"),
        ("leval_scientific_qa", "L-Eval scientific_qa (QASPER documents)"),
        ("mine", "mine, in LongBench's layout"),
    ],
)
def test_it_is_named_what_it_is(tmp_path: Path, dataset: str, title: str) -> None:
    path = json_lines(tmp_path / "x.jsonl", [row("a", "一。", dataset, "zh")])
    benchmark = load_benchmark("longbench", path)
    assert benchmark.title == f"{title}: 1 document, 1 question"
    assert benchmark.language == "zh"


def test_longbench_e_is_told_by_its_file(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "qasper_e.jsonl", [row("a", "One.")])
    assert load_benchmark("longbench", path).title.startswith("LongBench-E qasper: ")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (row("b", "x", language="zh"), "line 2 needs the data set and the language of the rows ab"),
        (row("b", "x", "narrativeqa"), "line 2 needs the data set and the language of the rows ab"),
        (row("a", "x"), "line 2 needs another '_id' than the rows above it"),
        (
            {**row("b", "x"), "answers": "yes"},
            "line 2 needs a list of texts in the field 'answers'",
        ),
        ({**row("b", "x"), "context": ""}, "line 2 needs text in the field 'context'"),
    ],
)
def test_malformed_rows(tmp_path: Path, second: dict[str, object], message: str) -> None:
    path = json_lines(tmp_path / "x.jsonl", [row("a", "One."), second])
    with pytest.raises(DocumentError, match=message):
        load_benchmark("longbench", path)


def test_no_row(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="holds no row"):
        load_benchmark("longbench", json_lines(tmp_path / "x.jsonl", []))


def test_leval() -> None:
    path = shared("leval") / "scientific_qa.longbench_style.jsonl"
    benchmark = load_benchmark("longbench", path)
    assert keeps_the_laws(benchmark)
    # 184 questions; of the 23 documents, three occur twice.
    assert len(benchmark.questions) == 184
    assert benchmark.title == (
        "L-Eval scientific_qa (QASPER documents): 20 documents, 184 questions"
    )
