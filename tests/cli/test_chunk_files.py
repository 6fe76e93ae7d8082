"""`lgmgc chunk --out`: formats, folders, and what does not go together."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from lgmgc.document import Document
from lgmgc.files.chunks import read_trees
from lgmgc.files.rows import COLUMNS
from tests.cli.program import run

MG = ("--method", "mg", "--theta", "8")
TEXT = "# One\n\nA first thing. And a second one.\n\n## Two\n\nA third thing, \u201cquoted\u201d.\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(5):
        (tmp_path / f"docs/{number}.md").write_text(f"{TEXT}\n{number}\n")
    records = [{"id": "x", "text": "From JSON.", "metadata": {"year": 1901}}, {"text": ""}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    return tmp_path


def rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def test_columns_beside_the_text(here: Path) -> None:
    done = run("chunk", "docs/0.md", "r.jsonl", *MG)
    assert done.status == 0, done.err
    read = rows(done.out)
    assert all(list(row) == list(COLUMNS) for row in read)
    assert next(row["headings"] for row in read if "third" in row["text"]) == ["One", "Two"]
    assert [row["metadata"] for row in read if row["document"] == "x"] == [{"year": 1901}]
    assert {row["pages"] for row in read} == {None}


def test_every_format_has_the_same_rows(here: Path) -> None:
    given = ("chunk", "docs", "r.jsonl", *MG)
    for name in ("o.jsonl", "o.csv", "o.parquet"):
        assert run(*given, "--out", name).status == 0
    wanted = rows((here / "o.jsonl").read_bytes())
    assert wanted == rows(run(*given).out)
    cells = list(csv.DictReader(io.StringIO((here / "o.csv").read_text("utf-8"), newline="")))
    table = parquet.read_table(here / "o.parquet").to_pylist()
    for name in ("id", "document", "text"):
        column = [row[name] for row in wanted]
        assert [row[name] for row in table] == column
        if name != "text":  # the CSV file was read with line ends translated
            assert [row[name] for row in cells] == column
    made = json.loads((here / "o.parquet.manifest.json").read_bytes())
    digest = hashlib.sha256((here / "o.parquet").read_bytes()).hexdigest()
    assert (made["output"]["format"], made["output"]["sha256"]) == ("parquet", digest)
    assert "pyarrow" in made["versions"]


def test_a_folder_of_shards(here: Path) -> None:
    given = ("chunk", "docs", "r.jsonl", *MG)
    done = run(*given, "--out", "out/", "--shard-documents", "3")
    assert done.status == 0, done.err
    names = sorted(path.name for path in (here / "out").iterdir())
    shards = ["part-00000.jsonl", "part-00001.jsonl", "part-00002.jsonl"]
    assert names == ["chunks.manifest.json", *shards]
    data = [(here / "out" / name).read_bytes() for name in shards]
    assert b"".join(data) == run(*given).out
    made = json.loads((here / "out/chunks.manifest.json").read_bytes())
    assert made["output"]["shards"] == [
        {"file": name, "sha256": hashlib.sha256(each).hexdigest(), "documents": count}
        for name, each, count in zip(shards, data, (3, 3, 1), strict=True)
    ]
    assert [entry["id"] for entry in made["documents"]][-2:] == ["x", "r.jsonl#2"]
    # Again, into the same folder, which has its name without / now: other shards, none left over.
    done = run(*given, "--out", "out", "--format", "parquet")
    assert done.status == 0, done.err
    names = sorted(path.name for path in (here / "out").iterdir())
    assert names == ["chunks.manifest.json", "part-00000.parquet"]


def test_shards_among_documents_are_no_documents(here: Path) -> None:
    for _ in range(2):
        done = run("chunk", "docs", *MG, "--out", "docs/", "--shard-documents", "2")
        assert done.err.startswith("5 documents (0 empty, 0 failed): "), done.err
    assert len(list((here / "docs").glob("part-*"))) == 3


def test_only_and_nest(here: Path) -> None:
    given = ("chunk", "docs", "r.jsonl", *MG)
    levels = [row["level"] for row in rows(run(*given).out)]
    parents = rows(run(*given, "--only", "parents").out)
    assert len(parents) == levels.count(0)
    assert run(*given, "--only", "children", "--out", "c.jsonl").status == 0
    children = rows((here / "c.jsonl").read_bytes())
    assert [row["level"] for row in children] == [level for level in levels if level]
    whole = rows(run(*given, "--nest").out)
    assert run(*given, "--nest", "--out", "n.jsonl").status == 0
    assert rows((here / "n.jsonl").read_bytes()) == whole
    assert [len(each["parents"]) for each in whole][-2:] == [1, 0]
    assert [p["id"] for each in whole for p in each["parents"]] == [p["id"] for p in parents]


def test_what_was_written_is_read(here: Path) -> None:
    assert run("chunk", "docs", "r.jsonl", *MG, "--out", "o.jsonl").status == 0
    trees = list(read_trees(here / "o.jsonl"))
    assert [tree.document.id for tree in trees] == [*(f"docs/{k}.md" for k in range(5)), "x"]
    assert trees[0].document == Document("docs/0.md", f"{TEXT}\n0\n")
    assert trees[-1].document.metadata == {"year": 1901}
    wanted = [row["headings"] for row in rows((here / "o.jsonl").read_bytes())]
    assert [list(chunk.headings) for tree in trees for chunk in tree] == wanted


def test_texts_are_saved(here: Path) -> None:
    done = run("chunk", "docs", *MG, "--out", "o.jsonl", "--save-text", "texts")
    assert done.status == 0, done.err
    saved = {path.read_text() for path in (here / "texts").iterdir()}
    assert saved == {f"{TEXT}\n{number}\n" for number in range(5)}


def test_metadata_that_json_cannot_say_fails_alone(here: Path) -> None:
    (here / "nan.jsonl").write_text('{"text": "One.", "metadata": {"x": NaN}}\n{"text": "Two."}\n')
    for out in ((), ("--out", "o.jsonl")):
        done = run("chunk", "nan.jsonl", *MG, *out)
        assert done.status == 1
        assert "lgmgc: nan.jsonl#1: has metadata that JSON cannot say" in done.err
        assert [row["text"] for row in rows(done.out or (here / "o.jsonl").read_bytes())] == [
            "Two."
        ]


def test_ids_that_come_twice_fail(here: Path) -> None:
    done = run("chunk", "r.jsonl", "r.jsonl/../r.jsonl", "docs/0.md", *MG)
    assert done.status == 2
    (here / "s.jsonl").write_text('{"id": "x", "text": "Again."}\n')
    done = run("chunk", "r.jsonl", "s.jsonl", *MG, "--out", "o.jsonl")
    assert done.status == 1
    assert len(list(read_trees(here / "o.jsonl"))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "csv"), "--format is about files; give --out"),
        (("--shard-documents", "5"), "--shard-documents is about files"),
        (("--fresh",), "--fresh is about files"),
        (("--format", "csv", "--out", "o.jsonl"), "are for a folder, whose name ends with /"),
        (("--nest", "--out", "o.csv"), "--nest gives JSON, which csv is not"),
        (("--nest", "--format", "parquet", "--out", "out/"), "--nest gives JSON, which parquet"),
        (("--nest", "--only", "parents"), "leave out --only"),
        (("--out", "o.txt"), "--out o.txt: end its name with .jsonl, .parquet, .csv, or with /"),
        (("--out", "docs/0.md/"), "docs/0.md: cannot be written (Not a directory)"),
    ],
)
def test_what_does_not_go_together(here: Path, options: tuple[str, ...], message: str) -> None:
    before = sorted(here.rglob("*"))
    done = run("chunk", "docs", *MG, *options)
    assert (done.status, done.out) == (2, b"")
    [line] = done.err.splitlines()
    assert message in line
    assert sorted(here.rglob("*")) == before
