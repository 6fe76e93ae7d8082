"""`lgmgc ask` with a model that the test scripts; tests/real has a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lgmgc.retrieval.answer import NOT_THERE
from tests.cli.program import run


class Script:
    """Says what it was told to, and counts words."""

    context = 10_000

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.read = ""

    def count(self, text: str) -> int:
        return len(text.split())

    def prompt_length(self, instruction: str, system: str = "") -> int:
        return self.count(instruction) + self.count(system)

    def stream(self, instruction: str, most: int, *, system: str = "") -> Iterator[str]:
        self.read = instruction
        yield from self.answer


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ask")
    (folder / "a\n.txt").write_text("The harbour clock was mended by Ada.")
    (folder / "b.txt").write_text("The church clock stopped at 2.20, and nobody mended it then.")
    done = run("index", folder, "--db", folder / "x.db", "--lexical-only", "--method", "mg")
    assert done.status == 0, done.err
    return folder / "x.db"


def script(monkeypatch: pytest.MonkeyPatch, answer: str) -> Script:
    model = Script(answer)
    monkeypatch.setattr("lgmgc.cli.finding.load_writer_of", lambda choice: model)
    return model


def test_an_answer_and_what_it_cites(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "\n Ada did [1].\x1b[2J\n \n")
    done = run("ask", "--db", db, "Who mended the harbour clock?")
    assert (done.status, done.err) == (0, "")
    assert done.out.decode().splitlines() == [
        "Ada did [1].\\x1b[2J",
        "",
        f"[1] {db.parent}/a\\n.txt 0–36",
    ]
    assert "\n=====\nThe harbour clock was mended by Ada.\n=====\n" in model.read
    assert model.read.endswith("Question: Who mended the harbour clock?")


def test_an_answer_that_cites_nothing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, "Ada.")
    done = run("ask", "--db", db, "Who mended the harbour clock?", "-k", "1")
    assert done.out.decode().splitlines() == [
        "Ada.",
        "",
        "It cites nothing; it was given:",
        f"[1] {db.parent}/a\\n.txt 0–36",
    ]


def test_nothing_found(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "never")
    assert run("ask", "--db", db, "volcano").out.decode() == f"{NOT_THERE}\n"
    assert model.read == ""


def test_json(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, " Ada did [1]. ")
    done = run("ask", "--db", db, "Who mended the harbour clock?", "--json")
    assert done.out.count(b"\n") == 1
    row = json.loads(done.out)
    assert list(row) == ["question", "answer", "found", "citations", "parents", "tokens"]
    assert (row["answer"], row["found"]) == ("Ada did [1].", True)
    assert [place["number"] for place in row["parents"]] == [1, 2]
    assert row["citations"] == row["parents"][:1]
    place = row["parents"][0]
    assert place.pop("score") > 0
    assert place == {"number": 1, "document": f"{db.parent}/a\n.txt", "start": 0, "end": 36,
                     "cut": False}  # fmt: skip
    assert row["tokens"]["answer"] == 3
    assert row["tokens"]["prompt"] > 50


def test_budget_and_whole_document(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "[1]")
    done = run("ask", "--db", db, "church", "--context-tokens", "9", "--whole-document")
    assert done.out.decode().splitlines()[-1] == f"[1] {db.parent}/b.txt 0–17 (cut off there)"
    assert "The church clock\n" in model.read


def test_closed_book(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, "Paris.")
    given: list[list[str | Path]] = [[], ["--db", db]]
    for arguments in given:
        done = run("ask", "What is the capital of France?", "--closed-book", *arguments)
        assert done.out == b"Paris.\n"
    assert model.read == "Question: What is the capital of France?"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "the question is empty"),
        (["Who?", "-k", "0"], "-k is 0"),
        (["Who?", "--mode", "x"], "--mode 'x' is none of"),
        (["Who?", "--db", "none.db"], "none.db: there is no index"),
        (["Who?", "--most", "0"], "--most is 0; it needs at least 1"),
        (["Who?", "--context-tokens", "0"], "--context-tokens is 0; it needs at least 1"),
        (["clock", "--context-tokens", "1"], "no text fits beside the question"),
        (["Who?", "--closed-book", "--hyde"], "--closed-book reads nothing"),
        (["Who?", "--closed-book", "--whole-document"], "--closed-book reads nothing"),
        (["Who?", "--hyde"], "x.db: was made with --lexical-only"),
    ],
)
def test_what_cannot_work_is_one_line_and_status_2(
    db: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    script(monkeypatch, "never")
    done = run("ask", "--db", db, *arguments)
    assert (done.status, done.out) == (2, b"")
    [line] = done.err.splitlines()
    assert line.startswith("lgmgc: ")
    assert message in line


def test_no_index_and_no_model(tmp_path: Path) -> None:
    done = run("ask", "Who?")
    assert done.status == 2
    assert "no index to answer from" in done.err
    done = run("ask", "Who?", "--closed-book", "--model", "absent", "--cache", tmp_path)
    assert done.status == 2
    assert done.err.startswith("lgmgc: no model 'absent'")
