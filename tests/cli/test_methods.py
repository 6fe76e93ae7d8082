from pathlib import Path

import pytest

from lgmgc.chunkers.methods import METHODS
from tests.cli.program import run
from tests.cli.test_chunk import rows

ONE, TWO = "Title one\n\n", "Title two\n\n"
ANN, DAN = "Ann ran off. Bob sat down. Cid ate all.\n\n", "Dan had fun. Eve is in.\n"
TEXT = ONE + ANN + TWO + DAN


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(TEXT)
    return tmp_path


def test_methods_are_listed_with_cost_and_options() -> None:
    done = run("methods")
    assert done.status == 0
    lines = done.out.decode().splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(METHODS)
    lumber = next(line for line in lines if line.startswith("lumber "))
    assert "LumberChunker" in lumber
    assert "--group --reader" in lumber
    assert "no model" in next(line for line in lines if line.startswith("recursive "))


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [
        ("--method fixed --theta 9", [("Title", "Cid "), ("ate", "is "), ("in.", "in.\n")]),
        (
            "--method fixed --theta 9 --overlap 5",
            [("Title", "Cid "), ("off.", "two\n\n"), ("Cid", "Eve "), ("two", "in.\n")],
        ),
        ("--method paragraph --theta 9", [(ONE, ONE), (ANN, ANN), (TWO, TWO), (DAN, DAN)]),
        ("--method recursive --theta 12", [(ONE + ANN, ANN), (TWO + DAN, DAN)]),
        (
            "--method sentences --theta 6",
            [(ONE, "off. "), ("Bob", "all.\n\n"), (TWO, "fun. "), ("Eve", "in.\n")],
        ),
    ],
)
def test_methods_without_a_model(here: Path, arguments: str, ends: list[tuple[str, str]]) -> None:
    done = run("chunk", "a.txt", *arguments.split())
    assert done.status == 0, done.err
    texts = [row["text"] for row in rows(done.out) if row["level"] == 0]
    assert len(texts) == len(ends)
    for text, (first, last) in zip(texts, ends, strict=True):
        assert text.startswith(first)
        assert text.endswith(last)


def test_a_marker_ends_a_chunk(here: Path) -> None:
    done = run("chunk", "a.txt", "--method", "manual", "--marker", "Title two")
    assert [row["text"] for row in rows(done.out)] == [ONE + ANN + TWO, DAN]


def test_children_of_any_method(here: Path) -> None:
    done = run("chunk", "a.txt", "--method", "recursive", "--theta", "12", "--children", "2,4")
    assert (
        done.out
        == run("chunk", "a.txt", "--method", "recursive", "--theta", "12", "--children", "2, 4").out
    )
    assert {row["level"] for row in rows(done.out)} == {0, 1, 2}
    assert all(row["words"] <= (12, 6, 3)[row["level"]] for row in rows(done.out))
    bare = run("chunk", "a.txt", "--method", "mg", "--theta", "12", "--children", "")
    assert {row["level"] for row in rows(bare.out)} == {0}


def test_windows_are_given(here: Path) -> None:
    done = run("chunk", "a.txt", "--method", "small2big", "--theta", "12")
    for row in rows(done.out):
        start, end = row["window"]
        assert start <= row["start"] < row["end"] <= end
        assert len(TEXT[start:end].split()) <= 12
        assert row["words"] <= 3


def test_boundaries_of_another_run_are_read(here: Path) -> None:
    run("chunk", "a.txt", "--method", "sentences", "--theta", "7", "--out", "one.jsonl")
    done = run("chunk", "a.txt", "--method", "manual", "--boundaries", "one.jsonl")
    spans = [(row["start"], row["end"]) for row in rows((here / "one.jsonl").read_bytes())]
    assert [(row["start"], row["end"]) for row in rows(done.out)] == spans


def test_a_document_that_its_method_cannot_cut_fails_alone(here: Path) -> None:
    (here / "b.txt").write_text("Nobody marked this.")
    (here / "m.jsonl").write_text('{"document": "a.txt", "start": 0, "end": 11}\n')
    done = run(
        "chunk",
        "a.txt",
        "b.txt",
        "--method",
        "manual",
        "--boundaries",
        "m.jsonl",
        "--out",
        "o.jsonl",
    )
    assert done.status == 1
    assert "lgmgc: b.txt: has no rows in m.jsonl" in done.err
    assert "1 failed" in done.err
    assert {row["document"] for row in rows((here / "o.jsonl").read_bytes())} == {"a.txt"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "magic"), "method 'magic' is none of lgmgc, lg, mg"),
        (("--method", "mg", "--signal", "topic"), "mg does not read signal"),
        (("--children", "2;4"), "--children '2;4' is no list of numbers such as 2,4"),
        (("--children", "0"), "each needs at least 1"),
        (("--method", "manual"), "give one"),
        (("--method", "semantic", "--threshold", "101"), "from 0 to 100"),
        (("--method", "manual", "--boundaries", "none.jsonl"), "none.jsonl: cannot be read"),
        (("--method", "fixed", "--theta", "9", "--overlap", "9"), "it must be below θ, 9"),
    ],
)
def test_mistakes_are_one_sentence(here: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("chunk", "a.txt", *arguments)
    assert (done.status, done.out) == (2, b"")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
