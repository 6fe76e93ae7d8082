"""The program with the real small model, which `scripts/test` fetches into the default cache."""

import json
from pathlib import Path

import pytest

from tests.cli.program import run

TEXT = (
    "The tide turned before noon. Boats that had waited in the bay put out one by one. "
    "By evening the harbour was empty.\r\n\r\n"
    "Bread dough rises because yeast makes gas. Warmth hurries it. Salt slows it down. "
    "A long, cold rise gives more taste.\r\n\r\n"
) * 3


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LGMGC_MODEL", raising=False)
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    return tmp_path


def test_chunks_scores_and_the_manifest(here: Path) -> None:
    (here / "prompt.txt").write_text("A text:\n")
    options = ("--theta", "40", "--precision", "fp32", "--device", "cpu")
    prompt = ("--prompt", "@prompt.txt")
    done = run("chunk", "a.txt", *options, *prompt, "--out", "1.jsonl")
    assert done.status == 0, done.err
    assert len(done.err.splitlines()) == 1
    rows = [json.loads(line) for line in (here / "1.jsonl").read_text().splitlines()]
    parents = [row for row in rows if row["level"] == 0]
    assert "".join(row["text"] for row in parents) == TEXT
    assert all(row["score"] < 0 for row in parents[:-1])
    assert all(row["score"] is None for row in rows if row["level"] > 0)

    manifest = json.loads((here / "1.jsonl.manifest.json").read_bytes())
    model = manifest["model"]
    assert model["name"] == "smollm2-135m-instruct"
    assert model["weights_sha256"].startswith("b179c9523d0e")
    assert (model["precision"], model["device"]) == ("fp32", "cpu")
    assert model["eos"] == [{"id": 0, "text": "<|endoftext|>"}]
    assert (model["prompt"], model["template"]) == ("A text:\n", "raw")
    counts = manifest["counts"]
    assert counts["windows"] > 0
    assert counts["model_calls"] > 0  # ρ by itself is one
    assert counts["tokens_read"] > counts["words"] > 100
    assert f" {counts['tokens_read']:,} model tokens, " in done.err

    again = run("chunk", "a.txt", *options, *prompt, "--out", "2.jsonl")
    assert again.status == 0
    assert (here / "1.jsonl").read_bytes() == (here / "2.jsonl").read_bytes()


def test_mg_in_tokens_asks_the_model_for_its_tokenizer_only(here: Path) -> None:
    done = run("chunk", "a.txt", "--method", "mg", "--unit", "tokens", "--theta", "40")
    assert done.status == 0, done.err
    assert " 0 model tokens, " in done.err


def test_models_that_cannot_be_used(here: Path) -> None:
    (here / "m.gguf").write_bytes(b"GGUF" + bytes(range(256)) * 20)
    for options in (
        ["--model", "no-such-model"],
        ["--model", "m.gguf"],
        ["--eos", "<|no such token|>"],
        ["--cache", "nowhere"],
        ["--theta", "100000", "--unit", "tokens"],
    ):
        done = run("chunk", "a.txt", *options, "--out", "o.jsonl")
        assert (done.status, done.out) == (2, b""), options
        [line] = done.err.splitlines()
        assert line.startswith("lgmgc: ")
        assert not list(here.glob("*o.jsonl*"))
        assert not list(here.glob(".o.jsonl*"))


def test_two_processes_write_what_one_writes(here: Path) -> None:
    for name in "bcd":
        (here / f"{name}.txt").write_bytes(f"{name}. {TEXT}".encode())
    given = ("chunk", "a.txt", "b.txt", "c.txt", "d.txt", "--theta", "40")
    one = run(*given, "--device", "cpu", "--out", "1.jsonl")
    two = run(*given, "--devices", "cpu:2", "--out", "2.jsonl")
    assert (one.status, two.status) == (0, 0), two.err
    assert (here / "1.jsonl").read_bytes() == (here / "2.jsonl").read_bytes()
    first, second = (json.loads((here / f"{k}.jsonl.manifest.json").read_bytes()) for k in (1, 2))
    assert first["model"] == second["model"]
    assert first["configuration"] == second["configuration"]
    assert first["documents"] == second["documents"]
