import csv
import json
from pathlib import Path

import pytest

from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.benchmark import Evidence, Question
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import keeps_the_laws, shared

Reference = tuple[object, object, object]


def write(
    folder: Path, *rows: tuple[str, str, list[Reference]], name: str = "questions.csv"
) -> Path:
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        for corpus, question, references in rows:
            names = ("content", "start_index", "end_index")
            objects = [dict(zip(names, each, strict=True)) for each in references]
            writer.writerow([question, json.dumps(objects), corpus])
    return folder


def test_spans_count_every_line_end_by_hand(tmp_path: Path) -> None:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "sea.md").write_bytes(b"One.\r\nOne.\r\nTwo.")
    (tmp_path / "corpora" / "land.md").write_bytes(b"One.")
    (tmp_path / "README.md").write_bytes(b"No corpus.")
    write(
        tmp_path,
        ("sea", "q1", [("One.", 6, 10), ("Two.", 12, 16)]),
        ("land", "q2", [("One", 0, 3)]),
        ("sky", "q3", [("x", 0, 1)]),
        ("sea", "q4", [("ne.\r\nO", 1, 7)]),
        name="questions_df.csv",
    )
    benchmark = load_benchmark("chroma", tmp_path)
    assert keeps_the_laws(benchmark)
    assert benchmark.scope == "collection"
    assert benchmark.title == (
        "Chroma's chunking evaluation: 2 of 5 corpora, 3 of 472 questions "
        "(1 left out, their corpora being absent)"
    )
    assert [each.id for each in benchmark.documents] == ["sea", "land"]
    # The first reference is the second "One.": offsets say it, a search would not.
    assert benchmark.questions == (
        Question(
            "sea/1", "sea", "q1", (),
            (Evidence("One.", (6, 10), "sea"), Evidence("Two.", (12, 16), "sea")),
        ),
        Question("land/1", "land", "q2", (), (Evidence("One", (0, 3), "land"),)),
        Question("sea/2", "sea", "q4", (), (Evidence("ne.\r\nO", (1, 7), "sea"),)),
    )  # fmt: skip
    # All documents of a collection are searched, whatever is asked.
    assert len(load_benchmark("chroma", tmp_path, limit=1).documents) == 2


@pytest.mark.parametrize(
    ("references", "message"),
    [
        (
            [("One", 1, 4)],
            "row 2 below the header, references 1 needs the text that stands in a.md",
        ),
        ([("One.", 0, 4), ("x", 4, 5)], "row 2 below the header, references 2 needs the text that"),
        ([("One", -4, 3)], "references 1 needs a whole number from 0 in the field 'start_index'"),
        ([], "row 2 below the header needs a reference in the field 'references'"),
    ],
)
def test_malformed_rows(tmp_path: Path, references: list[Reference], message: str) -> None:
    (tmp_path / "a.md").write_text("One.")
    write(tmp_path, ("a", "q1", [("One", 0, 3)]), ("a", "q2", references))
    with pytest.raises(DocumentError) as error:
        load_benchmark("chroma", tmp_path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'questions.csv'}: row 2")


def test_files_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"with questions_df\.csv or questions\.csv in it"):
        load_benchmark("chroma", tmp_path)
    write(tmp_path, ("a", "q1", [("One", 0, 3)]))
    with pytest.raises(UsageError, match=r"holds no corpus that questions\.csv asks about"):
        load_benchmark("chroma", tmp_path)


def test_the_real_slice() -> None:
    benchmark = load_benchmark("chroma", shared("chroma"))
    assert keeps_the_laws(benchmark)
    assert len(benchmark.documents) == 3
    assert len(benchmark.questions) == 276
    assert all(e.span for question in benchmark.questions for e in question.evidence)
    assert benchmark.title == ("Chroma's chunking evaluation: 3 of 5 corpora, 276 of 472 questions")
