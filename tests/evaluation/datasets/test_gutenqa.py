from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.benchmark import Evidence, Question
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import json_lines, keeps_the_laws, shared

Rows = list[dict[str, object]]


def paragraph(book: str, chapter: str, text: str) -> dict[str, object]:
    return {"Book Name": book, "Book ID": 7, "Chunk ID": 0, "Chapter": chapter, "Chunk": text}


def question(book: str, text: str, answer: str, must: str) -> dict[str, object]:
    return {"Book Name": book, "Question": text, "Answer": answer, "Chunk Must Contain": must}


# The books' rows are mixed, as nothing forbids; chapter I comes back after II.
PARAGRAPHS = [
    paragraph("A_b", "I", "One two."),
    paragraph("C", "I", "Sea."),
    paragraph("A_b", "I", "Two."),
    paragraph("A_b", "II", "Three."),
    paragraph("A_b", "I", "Four."),
]
QUESTIONS = [
    question("A_b", "q1", "a1", "Two."),
    question("C", "q2", "a2", "Sea."),
    question("A_b", "q3", "a3", "o."),  # at 6 and at 12
    question("A_b", "q4", "a4", "one two."),  # in another case
]
TEXT = "One two.\n\nTwo.\n\nThree.\n\nFour."
#       0          10      16        24   29


def as_parquet(folder: Path, paragraphs: Rows = PARAGRAPHS, questions: Rows = QUESTIONS) -> Path:
    parquet.write_table(pa.Table.from_pylist(paragraphs), folder / "GutenQA_paragraphs.parquet")
    parquet.write_table(pa.Table.from_pylist(questions), folder / "questions.parquet")
    return folder


def as_json(folder: Path, paragraphs: Rows = PARAGRAPHS, questions: Rows = QUESTIONS) -> Path:
    json_lines(folder / "paragraphs.jsonl", paragraphs)
    json_lines(folder / "questions.jsonl", questions)
    return folder


@pytest.mark.parametrize("layout", [as_parquet, as_json])
def test_two_books_by_hand(tmp_path: Path, layout: Callable[[Path], Path]) -> None:
    benchmark = load_benchmark("gutenqa", layout(tmp_path))
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "2 of GutenQA's 100 books"
    assert benchmark.scope == "document"
    assert {each.id: each.text for each in benchmark.documents} == {"A_b": TEXT, "C": "Sea."}
    assert benchmark.boundaries == {"A_b": ((0, 16), (16, 24), (24, 29)), "C": ((0, 4),)}
    assert benchmark.units == {"A_b": (10, 16, 24, 29), "C": (4,)}
    assert benchmark.questions == (
        Question("A_b/1", "A_b", "q1", ("a1",), (Evidence("Two.", (10, 14), "A_b"),)),
        Question("C/1", "C", "q2", ("a2",), (Evidence("Sea.", (0, 4), "C"),)),
        Question("A_b/2", "A_b", "q3", ("a3",), (Evidence("o.", None, "A_b"),)),
        Question("A_b/3", "A_b", "q4", ("a4",), (Evidence("one two.", None, "A_b"),)),
    )


def test_one_of_the_books(tmp_path: Path) -> None:
    folder = as_json(tmp_path)
    json_lines(tmp_path / "chunks_mine.jsonl", [{"Chunk": "Sea"}, {"Chunk": "."}])
    assert load_benchmark("gutenqa", folder).chunkings == {}
    benchmark = load_benchmark("gutenqa", folder, books=["A_b"])
    assert benchmark.title == "A b, 1 of GutenQA's 100 books"
    assert [each.id for each in benchmark.questions] == ["A_b/1", "A_b/2", "A_b/3"]
    assert benchmark.boundaries.keys() == {"A_b"}
    assert benchmark.chunkings == {"mine": ("Sea", ".")}
    with pytest.raises(UsageError, match=r"paragraphs\.jsonl: no book is called 'D'"):
        load_benchmark("gutenqa", folder, books=["A_b", "D"])


def test_chapters_need_no_questions(tmp_path: Path) -> None:
    (as_json(tmp_path) / "questions.jsonl").unlink()
    benchmark = load_benchmark("chapters", tmp_path, books=["A_b"])
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "chapters of A b, 1 of GutenQA's 100 books"
    assert benchmark.boundaries == {"A_b": ((0, 16), (16, 24), (24, 29))}
    assert benchmark.questions == ()
    with pytest.raises(UsageError, match=r"with questions\.parquet or questions\.jsonl in it"):
        load_benchmark("gutenqa", tmp_path)


def test_questions_of_a_single_book_may_leave_its_name_out(tmp_path: Path) -> None:
    bare = [{key: value for key, value in QUESTIONS[0].items() if key != "Book Name"}]
    benchmark = load_benchmark("gutenqa", as_json(tmp_path, PARAGRAPHS[:1], bare))
    assert benchmark.questions[0].document == "A_b"
    with pytest.raises(DocumentError, match=r"questions\.jsonl: line 1 needs text .*'Book Name'"):
        load_benchmark("gutenqa", as_json(tmp_path, PARAGRAPHS, bare))


def test_paragraphs_without_text(tmp_path: Path) -> None:
    rows = [paragraph("A", chapter, text) for chapter, text in (("I", ""), ("I", "x"), ("II", ""))]
    benchmark = load_benchmark("chapters", as_json(tmp_path, rows))
    assert keeps_the_laws(benchmark)
    assert benchmark.documents[0].text == "\n\nx\n\n"
    assert benchmark.units == {"A": (2, 5)}
    empty = load_benchmark("chapters", as_json(tmp_path, [paragraph("A", "I", "")]))
    assert (empty.boundaries, empty.units) == ({"A": ()}, {"A": ()})
    assert keeps_the_laws(empty)


def test_malformed_rows(tmp_path: Path) -> None:
    paragraphs = [*PARAGRAPHS, {**PARAGRAPHS[0], "Chunk": None}]
    with pytest.raises(DocumentError) as error:
        load_benchmark("gutenqa", as_parquet(tmp_path, paragraphs))
    path = tmp_path / "GutenQA_paragraphs.parquet"
    assert str(error.value) == f"{path}: row 6 needs text in the field 'Chunk'"
    questions = [*QUESTIONS, question("A_b", "q", "a", " ")]
    with pytest.raises(DocumentError, match=r"questions\.parquet: row 5 needs text .*Must Contain"):
        load_benchmark("gutenqa", as_parquet(tmp_path, PARAGRAPHS, questions))
    with pytest.raises(DocumentError, match=r"questions\.parquet: row 2 asks about the book 'C'"):
        load_benchmark("gutenqa", as_parquet(tmp_path, PARAGRAPHS[:1]))
    with pytest.raises(UsageError, match="holds no paragraph"):
        load_benchmark("chapters", as_json(tmp_path / "empty", [], []))


@pytest.mark.parametrize("layout", ["", "hf_layout"])
def test_emma(layout: str) -> None:
    folder = shared("gutenqa_emma")
    benchmark = load_benchmark("gutenqa", folder / layout)
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "Emma - Jane Austen, 1 of GutenQA's 100 books"
    (emma,) = benchmark.documents
    with (folder / "emma_from_paragraphs.txt").open(encoding="utf-8", newline="") as file:
        assert emma.text == file.read()
    assert len(benchmark.units[emma.id]) == 2287
    assert len(benchmark.boundaries[emma.id]) == 55
    assert len(benchmark.questions) == 30
    # 25 strings stand in the text letter for letter, each once.
    assert sum(each.evidence[0].span is not None for each in benchmark.questions) == 25
    sizes = {name: len(chunks) for name, chunks in benchmark.chunkings.items()}
    assert sizes == (
        {}
        if layout
        else {
            "fixed_450": 350,
            "lumberchunker_gemini": 476,
            "propositions": 11834,
            "recursive_langchain": 413,
            "semantic": 1584,
        }
    )
    chapters = load_benchmark("chapters", folder / layout)
    assert (chapters.boundaries, chapters.units) == (benchmark.boundaries, benchmark.units)
