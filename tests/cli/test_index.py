"""`lgmgc index` without a model: words only, and a method that asks none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lgmgc.retrieval import Index
from tests.cli.program import Done, run, start
from tests.files.making import FIXTURES
from tests.retrieval.fake import dump

TEXT = "A volcano erupts. The ash falls far away.\r\n\r\n" * 20
WORDS = ("--db", "x.db", "--lexical-only", "--method", "mg", "--theta", "20")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LGMGC_EMBEDDER", raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_bytes(TEXT.encode())
    (tmp_path / "docs/b.md").write_text("Glaciers carve valleys as they move.")
    return tmp_path


def names(path: str = "x.db") -> list[str]:
    return sorted(str(row[1]) for row in dump(Path(path))["documents"])


def summary(done: Done) -> str:
    [line] = done.err.splitlines()[-1:]
    return line[: line.index(" pooled texts, ")]


def test_added_skipped_replaced_pruned(here: Path) -> None:
    done = run("index", "docs", *WORDS)
    assert (done.status, done.out) == (0, b"")
    with Index.open("x.db") as index:
        pieces = index.counts().pieces
        assert index.document_text("docs/a.txt") == TEXT
    assert summary(done) == (
        f"2 documents: 2 added, 0 replaced, 0 skipped, 0 pruned, 0 failed; {pieces} pieces, 0"
    )
    assert (here / "x.db").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in here.iterdir()) == ["docs", "x.db"]

    before = dump(here / "x.db")
    done = run("index", "docs", *WORDS)
    assert done.status == 0
    assert " 0 added, 0 replaced, 2 skipped, 0 pruned, 0 failed; 0 pieces, 0" in summary(done)
    assert dump(here / "x.db") == before

    (here / "docs/b.md").write_text("Glaciers melt.")
    (here / "docs/c.md").write_text("Bread dough rises.")
    (here / "docs/a.txt").unlink()
    done = run("index", "docs", *WORDS)
    assert " 1 added, 1 replaced, 0 skipped, 0 pruned, " in summary(done)
    assert names() == ["docs/a.txt", "docs/b.md", "docs/c.md"]
    done = run("index", "docs", *WORDS, "--prune")
    assert " 0 added, 0 replaced, 2 skipped, 1 pruned, " in summary(done)
    assert names() == ["docs/b.md", "docs/c.md"]


def test_other_options_replace(here: Path) -> None:
    run("index", "docs", *WORDS)
    done = run("index", "docs", *WORDS, "--theta", "24")
    assert " 0 added, 2 replaced, 0 skipped, " in summary(done)
    done = run(
        "index", "docs", *WORDS, "--theta", "24", "--prompt", "unread", "--batch-tokens", "9"
    )
    assert " 0 added, 0 replaced, 2 skipped, " in summary(done)


def test_no_model_is_loaded_where_nothing_changed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("index", "docs", *WORDS)

    def never(*arguments: object) -> None:
        raise AssertionError("models were asked for")

    monkeypatch.setattr("lgmgc.cli.indexing.load_models", never)
    assert run("index", "docs", *WORDS).status == 0


def test_a_document_that_fails_among_others(here: Path) -> None:
    run("index", "docs", *WORDS)
    (here / "docs/b.md").write_bytes(b"caf\xe9")
    (here / "docs/c.md").write_text("Bread dough rises.")
    done = run("index", "docs", *WORDS, "--prune")
    assert done.status == 1
    assert done.err.startswith("lgmgc: docs/b.md: byte 0xE9 at offset 3 is not valid utf-8; ")
    assert " 1 added, 0 replaced, 1 skipped, 0 pruned, 1 failed; " in summary(done)
    with Index.open("x.db") as index:  # what was there of it stays
        assert index.document_text("docs/b.md").startswith("Glaciers")
    done = run("index", "docs", *WORDS, "--encoding", "latin-1")
    assert done.status == 0
    assert " 0 added, 1 replaced, 2 skipped, " in summary(done)


def test_a_document_that_its_method_cannot_cut(here: Path) -> None:
    (here / "spans.jsonl").write_text('{"document": "docs/a.txt", "start": 0, "end": 45}')
    manual = ("--method", "manual", "--boundaries", "spans.jsonl", "--theta", "1000")
    done = run("index", "docs", "--db", "x.db", "--lexical-only", *manual)
    assert done.status == 1
    assert done.err.startswith("lgmgc: docs/b.md: has no rows in spans.jsonl")
    assert " 1 added, 0 replaced, 0 skipped, 0 pruned, 1 failed; 2 pieces" in summary(done)


def test_an_empty_document_is_there(here: Path) -> None:
    (here / "docs/e.txt").touch()
    run("index", "docs", *WORDS)
    done = run("index", "docs", *WORDS)
    assert " 3 skipped, " in summary(done)
    assert "docs/e.txt" in names()


def test_standard_input(here: Path) -> None:
    assert run("index", "-", *WORDS, stdin=TEXT.encode()).status == 0
    assert names() == ["-"]


def test_chunks_that_were_made_before(here: Path) -> None:
    run("chunk", "docs", "--method", "mg", "--theta", "20", "--out", "c.jsonl")
    done = run("index", "--chunks", "c.jsonl", "--db", "y.db", "--lexical-only")
    assert done.status == 0, done.err
    assert summary(done).startswith("2 documents: 2 added, ")
    run("index", "docs", *WORDS)
    made, direct = (dump(here / name) for name in ("y.db", "x.db"))
    for table in ("chunks", "vectors", "terms_docsize", "seen"):
        assert made[table] == direct[table]

    done = run("index", "--chunks", "c.jsonl", "--db", "y.db", "--lexical-only")
    assert " 0 added, 0 replaced, 2 skipped, " in summary(done)
    run("chunk", "docs/b.md", "--method", "mg", "--theta", "4", "--out", "c.jsonl")
    done = run("index", "--chunks", "c.jsonl", "--db", "y.db", "--lexical-only", "--prune")
    assert " 0 added, 1 replaced, 0 skipped, 1 pruned, " in summary(done)
    assert names("y.db") == ["docs/b.md"]


ROWS = """\
{"id": "x", "text": "A volcano erupts. The ash falls far away."}
{"id": "y", "text": "Glaciers carve valleys as they move."}
{"text": "Bread dough rises."}
"""


def test_many_documents_of_one_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "rows.jsonl").write_text(ROWS)
    done = run("index", "rows.jsonl", *WORDS)
    assert summary(done).startswith("3 documents: 3 added, 0 replaced, 0 skipped, ")
    assert names() == ["rows.jsonl#3", "x", "y"]

    (here / "rows.jsonl").write_text(ROWS.replace("carve", "cut"))
    done = run("index", "rows.jsonl", *WORDS)
    assert summary(done).startswith("3 documents: 0 added, 1 replaced, 2 skipped, ")

    def never(*arguments: object) -> None:
        raise AssertionError("models were asked for")

    monkeypatch.setattr("lgmgc.cli.indexing.load_models", never)
    done = run("index", "rows.jsonl", *WORDS)
    assert (done.status, " 3 skipped, " in summary(done)) == (0, True)


def test_documents_of_one_file_are_pruned_only_where_all_ids_are_known(here: Path) -> None:
    (here / "rows.jsonl").write_text(ROWS)
    run("index", "rows.jsonl", *WORDS)
    first = ROWS.splitlines()[0]
    (here / "rows.jsonl").write_text("\n".join([first, "torn"]))
    done = run("index", "rows.jsonl", *WORDS, "--prune")
    assert done.status == 1
    torn, kept, _ = done.err.splitlines()
    assert torn == "lgmgc: rows.jsonl: line 2 is not a JSON object in UTF-8; mend it"
    assert kept.startswith("lgmgc: nothing was pruned, for the ids of some documents ")
    assert names() == ["rows.jsonl#3", "x", "y"]
    (here / "rows.jsonl").write_text(first)
    done = run("index", "rows.jsonl", *WORDS, "--prune")
    assert " 1 skipped, 2 pruned, 0 failed; " in summary(done)
    assert names() == ["x"]


def test_two_documents_of_one_id(here: Path) -> None:
    (here / "a.jsonl").write_text(ROWS)
    (here / "b.jsonl").write_text('{"id": "y", "text": "Another."}')
    done = run("index", "a.jsonl", "b.jsonl", *WORDS)
    assert done.status == 1
    assert done.err.startswith("lgmgc: b.jsonl: line 1: has the id 'y' of a document before it; ")
    assert " 3 added, 0 replaced, 0 skipped, 0 pruned, 1 failed; " in summary(done)


def test_options_of_reading(here: Path) -> None:
    (here / "t.csv").write_text("id,body\nx,o\ufb03ce\n")
    done = run("index", "t.csv", *WORDS)
    assert done.err.startswith("lgmgc: t.csv: has no column 'text'; name the one ")
    done = run("index", "t.csv", *WORDS, "--text-column", "body", "--normalize")
    assert done.status == 0, done.err
    with Index.open("x.db") as index:
        assert index.document_text("x") == "office"
    done = run("index", "--chunks", "c.jsonl", "--db", "y.db", "--lexical-only", "--normalize")
    assert (done.status, "leave out PATHs and the options of" in done.err) == (2, True)


def test_every_format_of_a_folder_and_one_that_fails(here: Path) -> None:
    folder = here / "all"
    shutil.copytree(FIXTURES, folder)
    for name in ("rows.jsonl.gz", "rows.csv", "rows.csv.gz", "rows.parquet", "locked.pdf"):
        (folder / name).unlink()
    done = run("index", "all", *WORDS)
    assert done.status == 1
    assert done.err.startswith("lgmgc: all/scan.pdf: holds no text, only images; run OCR first")
    assert summary(done).startswith("15 documents: 14 added, ")
    assert names()[-4:] == ["all/harbour.txt.gz", "all/harbour.xlsx", "all/rows.jsonl#3", "tides"]
    assert " 0 added, 0 replaced, 14 skipped, " in summary(run("index", "all", *WORDS))


def test_damaged_chunks_change_nothing(here: Path) -> None:
    run("chunk", "docs", "--method", "mg", "--theta", "20", "--out", "c.jsonl")
    lines = (here / "c.jsonl").read_bytes().splitlines()
    del lines[0]
    (here / "c.jsonl").write_bytes(b"\n".join(lines))
    done = run("index", "--chunks", "c.jsonl", "--db", "y.db", "--lexical-only")
    assert done.status == 2
    [line] = done.err.splitlines()
    assert line.startswith("lgmgc: c.jsonl: line ")
    assert not (here / "y.db").exists()


def test_a_killed_run_goes_on(here: Path) -> None:
    for number in range(300):
        (here / f"docs/{number:03}.txt").write_text(f"{TEXT}{number}.")
    process = start("index", "docs", "-", *WORDS)  # standard input keeps it from ending
    while process.poll() is None and _count(here / "x.db") < 40:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert 40 <= _count(here / "x.db") <= 302
    done = run("index", "docs", "-", *WORDS, stdin=b"The end.")
    assert done.status == 0
    assert run("index", "docs", "-", "--db", "y.db", *WORDS[2:], stdin=b"The end.").status == 0
    assert dump(here / "x.db") == dump(here / "y.db")


def _count(path: Path) -> int:
    try:
        with Index.open(path) as index:
            return index.counts().documents
    except Exception:  # not there yet
        return 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to index"),
        (["none.txt"], "none.txt: no such file or folder"),
        (["docs", "--encoding", "klingon"], "no text encoding"),
        (["docs", "--theta", "0"], "θ is 0"),
        (["docs", "--chunks", "c.jsonl"], "--chunks brings texts that are cut already"),
        (["--chunks", "none.jsonl"], "none.jsonl: cannot be read"),
        (["docs", "--db", "docs/b.md"], "docs/b.md: is not an index"),
        (["docs", "--db", "none/x.db"], "none/x.db: cannot be written"),
    ],
)
def test_what_cannot_work_is_one_line_and_status_2(
    here: Path, arguments: list[str], message: str
) -> None:
    plain = [] if "--chunks" in arguments else ["--method", "mg"]
    done = run("index", "--db", "x.db", "--lexical-only", *plain, *arguments)
    assert (done.status, done.out) == (2, b"")
    [line] = done.err.splitlines()
    assert line.startswith("lgmgc: ")
    assert message in line
    assert not (here / "x.db").exists()


def test_with_and_without_vectors_do_not_mix(here: Path) -> None:
    run("index", "docs", *WORDS)
    done = run("index", "docs", "--db", "x.db", "--method", "mg")
    assert done.status == 2
    assert done.err == (
        "lgmgc: x.db: was made with --lexical-only; give it again, or index into another file\n"
    )


def test_without_vectors_and_models_no_torch(here: Path) -> None:
    code = f"""
import sys
from lgmgc.cli.app import main
sys.argv = ["lgmgc", *{["index", "docs", *WORDS]!r}]
try:
    main()
finally:
    assert "torch" not in sys.modules, "torch was imported"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=here)
    assert done.returncode == 0, done.stderr


def test_the_configuration_is_what_is_compared(here: Path) -> None:
    run("index", "docs", *WORDS)
    [configuration] = {row[3] for row in dump(here / "x.db")["documents"]}
    assert json.loads(str(configuration)) == {
        "method": "mg",
        "theta": 20,
        "unit": "words",
        "language": "auto",
        "children": [2, 4],
    }
