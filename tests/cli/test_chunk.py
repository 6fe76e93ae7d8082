import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, run, start

TEXT = "One thing. Another thing.\r\nA third\tthing, caf\u00e9.\r\n\r\n" * 40
MG = ("--method", "mg", "--theta", "20")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "empty.txt").touch()
    return tmp_path


def rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines()]


def parents_text(data: bytes) -> str:
    return "".join(row["text"] for row in rows(data) if row["level"] == 0)


def summary(done: Done) -> str:
    return done.err.splitlines()[-1]


def test_rows_on_stdout_and_nothing_else(here: Path) -> None:
    done = run("chunk", "a.txt", *MG)
    assert done.status == 0
    assert parents_text(done.out) == TEXT  # \r\n and all
    assert {row["document"] for row in rows(done.out)} == {"a.txt"}
    assert all(row["text"] == TEXT[row["start"] : row["end"]] for row in rows(done.out))
    limits = {0: 20, 1: 10, 2: 5}
    assert all(row["words"] <= limits[row["level"]] for row in rows(done.out))
    assert len(done.err.splitlines()) == 1
    assert summary(done).startswith("1 document (0 empty, 0 failed): ")
    assert f" {len(rows(done.out))} chunks, " in summary(done)
    assert " 0 model tokens, " in summary(done)


def test_out_holds_the_same_with_a_manifest_beside(here: Path) -> None:
    printed = run("chunk", "a.txt", "empty.txt", *MG)
    done = run("chunk", "a.txt", "empty.txt", *MG, "--out", "o.jsonl")
    assert (done.status, done.out) == (0, b"")
    data = (here / "o.jsonl").read_bytes()
    assert data == printed.out
    manifest = json.loads((here / "o.jsonl.manifest.json").read_bytes())
    sha256 = hashlib.sha256(data).hexdigest()
    shape = {"format": "jsonl", "only": None, "nest": False}
    assert manifest["output"] == {**shape, "file": "o.jsonl", "sha256": sha256}
    assert manifest["schema"] == 2
    assert manifest["configuration"]["theta"] == 20
    assert manifest["configuration"]["method"] == "mg"
    assert manifest["model"] is None
    assert manifest["counts"]["empty_documents"] == 1
    assert [entry["id"] for entry in manifest["documents"]] == ["a.txt", "empty.txt"]
    assert manifest["documents"][0]["chunks"] == len(rows(data)) == manifest["counts"]["chunks"]
    for name in ("o.jsonl", "o.jsonl.manifest.json"):
        assert (here / name).stat().st_mode & 0o777 == 0o600
    assert not list(here.glob(".*"))


def test_two_runs_write_the_same_bytes(here: Path) -> None:
    run("chunk", "a.txt", *MG, "--out", "1.jsonl")
    run("chunk", "a.txt", *MG, "--out", "2.jsonl")
    assert (here / "1.jsonl").read_bytes() == (here / "2.jsonl").read_bytes()


def test_standard_input(here: Path) -> None:
    done = run("chunk", "-", *MG, stdin=TEXT.encode())
    assert parents_text(done.out) == TEXT
    assert {row["document"] for row in rows(done.out)} == {"-"}


def test_a_folder_in_order(here: Path) -> None:
    for name in ("docs/z.md", "docs/sub/b.txt", "docs/.hidden.txt"):
        (here / name).parent.mkdir(exist_ok=True, parents=True)
        (here / name).write_text("Some text.")
    done = run("chunk", "docs", *MG)
    assert [row["document"] for row in rows(done.out) if row["level"] == 0] == [
        "docs/sub/b.txt",
        "docs/z.md",
    ]


def test_encodings(here: Path) -> None:
    assert parents_text(run("chunk", "latin.txt", *MG, "--encoding", "latin-1").out) == "caf\u00e9"
    assert parents_text(run("chunk", "latin.txt", *MG, "--errors", "replace").out) == "caf\ufffd"


def test_a_failing_document_among_others(here: Path) -> None:
    done = run("chunk", "latin.txt", "a.txt", *MG, "--out", "o.jsonl")
    assert done.status == 1
    message, last = done.err.splitlines()
    assert message.startswith("lgmgc: latin.txt: byte 0xE9 at offset 3 is not valid utf-8; ")
    assert last.startswith("2 documents (0 empty, 1 failed): ")
    assert parents_text((here / "o.jsonl").read_bytes()) == TEXT
    manifest = json.loads((here / "o.jsonl.manifest.json").read_bytes())
    assert manifest["failed"] == [{"id": "latin.txt", "message": message.removeprefix("lgmgc: ")}]
    assert manifest["counts"]["failed_documents"] == 1


def test_nothing_is_written_when_every_document_failed(here: Path) -> None:
    (here / "o.jsonl").write_text("old")
    done = run("chunk", "latin.txt", *MG, "--out", "o.jsonl")
    assert done.status == 1
    assert (here / "o.jsonl").read_text() == "old"
    assert sorted(p.name for p in here.iterdir()) == ["a.txt", "empty.txt", "latin.txt", "o.jsonl"]


def test_a_link_to_nothing_in_a_folder_is_one_failure(here: Path) -> None:
    (here / "docs").mkdir()
    (here / "docs/a.txt").write_text("Some text.")
    (here / "docs/b.txt").symlink_to("nothing")
    (here / "o.jsonl").write_text("old")
    done = run("chunk", "docs", *MG, "--out", "o.jsonl")
    assert done.status == 1
    assert done.err.startswith("lgmgc: docs/b.txt: cannot be read (No such file or directory)\n")
    assert parents_text((here / "o.jsonl").read_bytes()) == "Some text."


def test_an_empty_file_has_no_chunks_and_is_counted(here: Path) -> None:
    done = run("chunk", "empty.txt", *MG, "--out", "o.jsonl")
    assert done.status == 0
    assert summary(done).startswith("1 document (1 empty, 0 failed): 0 parents, 0 chunks, 0 words;")
    assert (here / "o.jsonl").read_bytes() == b""


def test_a_blank_file_is_kept(here: Path) -> None:
    (here / "blank.txt").write_bytes(b" \r\n\t\n")
    done = run("chunk", "blank.txt", *MG)
    assert done.status == 0
    assert parents_text(done.out) == " \r\n\t\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt"], "none.txt: no such file or folder"),
        (["a.txt", "--theta", "0"], "θ is 0"),
        (["a.txt", "--theta", "3"], "θ is 3"),
        (["a.txt", "--encoding", "klingon"], "no text encoding is called 'klingon'"),
        (["a.txt", "--language", "klingon"], "klingon"),
        (["a.txt", "--out", "none/o.jsonl"], "none/o.jsonl: cannot be written"),
        (["a.txt", "--out", "/dev/null"], "/dev/null: is not a regular file"),
        (["a.txt", "--out", "./a.txt"], "--out ./a.txt: end its name with .jsonl"),
        (["a.txt", "--prompt", "@none"], "--prompt @none: cannot be read"),
        (["a.txt", "--prompt", "@latin.txt"], "--prompt @latin.txt: is not UTF-8 (byte 0xE9"),
    ],
)
def test_what_cannot_work_is_one_line_and_status_2(
    here: Path, arguments: list[str], message: str
) -> None:
    done = run("chunk", *arguments, "--method", "mg")
    assert done.status == 2
    assert done.out == b""
    [line] = done.err.splitlines()
    assert line.startswith("lgmgc: ")
    assert message in line


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.txt", "--theta", "x"],
        ["a.txt", "--unit", "pages"],
        ["a.txt", "--method", "x"],
        ["a.txt", "--batch-tokens", "0"],
        ["a.txt", "--errors", "ignore"],
    ],
)
def test_options_that_do_not_exist(here: Path, arguments: list[str]) -> None:
    done = run("chunk", *arguments)
    assert (done.status, done.out) == (2, b"")
    assert "Traceback" not in done.err


def test_usage_is_looked_at_before_a_model_that_is_not_there(here: Path) -> None:
    done = run("chunk", "none.txt", "--cache", here / "cache")
    assert (done.status, done.err) == (2, "lgmgc: none.txt: no such file or folder\n")


def test_a_name_that_would_steer_the_terminal_is_escaped(here: Path) -> None:
    (here / "x\n\x1b[2J.txt").write_bytes(b"caf\xe9")
    done = run("chunk", ".", *MG)
    assert done.status == 1
    assert any(line.startswith(r"lgmgc: ./x\n\x1b[2J.txt: byte") for line in done.err.splitlines())


def test_help_shows_an_example_and_the_version_is_there() -> None:
    assert "Example: lgmgc chunk" in run("chunk", "--help").out.decode()
    assert run("--version").out.startswith(b"lgmgc ")
    assert run("no-such-command").status == 2


def test_help_and_models_list_import_no_torch(tmp_path: Path) -> None:
    for arguments in (["--help"], ["models", "list"], ["chunk", "none.txt"]):
        code = f"""
import sys
from lgmgc.cli.app import main
sys.argv = ["lgmgc", *{arguments!r}]
try:
    main()
finally:
    assert "torch" not in sys.modules, "torch was imported"
    assert "transformers" not in sys.modules, "transformers was imported"
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=False, cwd=tmp_path
        )
        assert b"was imported" not in done.stderr


def test_a_full_disk_behind_standard_output(here: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    process = start("chunk", "a.txt", *MG, stdout=full)
    os.close(full)
    err = process.communicate()[1].decode()
    assert process.returncode == 2
    assert err == (
        "lgmgc: standard output cannot be written (No space left on device); give --out\n"
    )


def test_a_reader_that_goes_away_ends_the_run_quietly(here: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start("chunk", "a.txt", *MG, stdout=writing)
    os.close(writing)
    assert process.communicate()[1] == b""
    assert process.returncode == 1


def test_rows_come_while_the_run_goes_on(here: Path) -> None:
    # More documents than the chunker opens at once, so that it must hand some on.
    (here / "many").mkdir()
    for number in range(300):
        (here / f"many/{number:03}.txt").write_bytes(TEXT.encode())
    process = start("chunk", "many", "-", *MG)
    assert process.stdout is not None
    first = process.stdout.readline()  # while standard input, the last document, is still open
    out, _ = process.communicate(b"The end.")
    assert parents_text(first + out) == TEXT * 300 + "The end."
