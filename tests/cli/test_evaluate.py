"""`lgmgc eval`, with the real small models, and what it refuses."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, run

EXPERIMENT = """
title = "A small trial"
measures = ["retrieval"]
baseline = "recursive"

[[benchmark]]
name = "own"
data = "own"

[[method]]
method = "recursive"
theta = 24

[[method]]
method = "lgmgc"
theta = 24
model = "smollm2-135m-instruct"

[[method]]
method = "random"
like = "lgmgc"
seeds = 2
"""
LABELS = ["recursive", "lgmgc", "random, sizes of lgmgc"]
CLOCK = (
    "The harbour clock was mended by Ada. She took two days over it. Rain fell meanwhile.\n\n"
    "Nobody paid her for it. The council met in June. It agreed to pay at last.\n"
)
ICE = (
    "Glaciers carve valleys as they move. Ice is heavy.\n\nA glacier loses forty metres a year. "
    "The valley of Tolva was carved by ice. Today sheep graze in it.\n"
)
QUESTIONS = (
    {"document": "clock.txt", "question": "Who repaired the clock?", "evidence": "mended by Ada"},
    {"document": "clock.txt", "question": "When did the councillors come together?",
     "evidence": ["The council met in June.", "It agreed to pay"]},
    {"document": "deep/ice.md", "question": "What grazes there?", "evidence": {"start": 128,
     "end": 145}},
)  # fmt: skip


def bench(folder: Path) -> Path:
    own = folder / "own"
    (own / "deep").mkdir(parents=True)
    (own / "clock.txt").write_text(CLOCK)
    (own / "deep" / "ice.md").write_text(ICE)
    (own / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    (folder / "trial.toml").write_text(EXPERIMENT)
    return folder


def evaluate(folder: Path, out: str, *more: str | Path) -> Done:
    return run("eval", "run", folder / "trial.toml", "--data", folder, "--out", folder / out,
               "--answers", folder / "answers.db", "--device", "cpu", *more)  # fmt: skip


def answers(folder: Path) -> int:
    with sqlite3.connect(folder / "answers.db") as connection:
        [found] = connection.execute("SELECT count(*) FROM answers").fetchone()
    connection.close()
    assert isinstance(found, int)
    return found


def without_seconds(folder: Path) -> Any:
    content = json.loads((folder / "results.json").read_text())
    del content["made"]["date"]
    for row in content["rows"]:
        row["cost"] = {k: v for k, v in row["cost"].items() if "second" not in k}
    return content


def test_an_experiment_from_end_to_end(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    done = evaluate(folder, "first")
    assert done.status == 0, done.err
    assert done.err == "".join(f"own: {label}\n" for label in LABELS)
    first = folder / "first"
    assert sorted(file.name for file in first.iterdir()) == [
        "budget-own.png", "budget-own.svg", "questions.jsonl", "results.csv", "results.json",
        "results.md", "seconds-own.png", "seconds-own.svg",
    ]  # fmt: skip
    text = (first / "results.md").read_text()
    assert done.out.decode().rstrip("\n") == text.rstrip("\n")
    assert text.startswith("# A small trial\n\n`lgmgc eval run` of trial, ")
    assert "\nModels: smollm2-135m-instruct in " in text
    assert text.count("told apart from recursive") == 7  # four rules, two costs, characters
    for label in LABELS:
        assert f"\n| {label} |" in text

    rows = [json.loads(line) for line in (first / "questions.jsonl").read_text().splitlines()]
    assert [(row["row"], row["question"]) for row in rows] == [
        (label, question) for label in LABELS for question in "123"
    ]
    made = json.loads((first / "results.json").read_text())
    # The experiment's model and the row's are one, and loaded once.
    assert [model["name"] for model in made["made"]["models"]] == ["smollm2-135m-instruct"]
    recursive, lgmgc, control = made["rows"]
    assert recursive["values"]["1"]["Recall@20 (folded)"] == 1
    assert {row["sizes"]["over"] for row in made["rows"]} == {0}
    assert lgmgc["cost"]["model_tokens_per_token"] > 0
    assert set(control["cost"]) == {"index_seconds"}
    assert "1" in control["levels"]  # it has children, as lgmgc has
    with (first / "results.csv").open(encoding="utf-8", newline="") as file:
        means = {(row["row"], row["measure"]): row for row in csv.DictReader(file)}
    dcg = [row["DCG@20 (folded)"] for row in rows[3:6]]
    assert float(means["lgmgc", "DCG@20 (folded)"]["mean"]) == pytest.approx(sum(dcg) / 3, rel=1e-5)
    assert means["lgmgc", "DCG@20 (folded)"]["n"] == "3"

    asked = answers(folder)
    assert evaluate(folder, "second", "--quiet").err == ""
    assert answers(folder) == asked > 20
    assert without_seconds(folder / "second") == without_seconds(first)
    for name in ("questions.jsonl", "budget-own.svg", "budget-own.png"):
        assert (folder / "second" / name).read_bytes() == (first / name).read_bytes()

    compared = run("eval", "compare", first, folder / "second")
    assert compared.status == 0, compared.err
    lines = [line for line in compared.out.decode().splitlines() if line.startswith("| ")]
    lines = [line for line in lines if not line.startswith("| measure")]
    assert len(lines) == 3 * (4 * 11 + 12)
    assert all(" | +0.000 | [+0.000, +0.000] | 1.000 | 3 |" in line for line in lines)
    two = run("eval", "compare", f"{first}:recursive", f"{first}:lgmgc")
    assert two.out.decode().splitlines()[2] == "## own: lgmgc less recursive"


def test_chosen_rows_without_a_language_model(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    (folder / "choi").mkdir()
    (folder / "choi" / "1.ref").write_text(
        "==========\nOne two.\nThree.\n==========\nFour.\n==========\n"
    )
    (folder / "trial.toml").write_text(
        'measures = ["segmentation"]\n[[benchmark]]\nname = "choi"\ndata = "choi"\n'
        '[[method]]\nmethod = "sentences"\ntheta = 3\n[[method]]\nmethod = "fixed"\ntheta = 3\n'
        '[[method]]\nmethod = "lg"\n'
    )
    done = evaluate(folder, "out", "--only", "sen*", "--only", "fixed")
    assert (done.status, done.err) == (0, "choi: sentences\nchoi: fixed\n")
    assert "\nModels: none;\nembedder: none.\n" in done.out.decode()
    made = json.loads((folder / "out" / "results.json").read_text())
    assert [row["values"]["1"]["F1"] for row in made["rows"]] == [1, 1]


def refused(folder: Path, done: Done, said: str) -> None:
    assert done.status == 2
    assert done.out == b""
    assert done.err.startswith("lgmgc: ")
    assert done.err.count("\n") == 1
    assert said in done.err
    assert not (folder / "out").exists()
    assert not (folder / "answers.db").exists()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('data = "own"', 'data = "owm"', "owm: no such file or folder; own is read from a folder"),
        ('name = "own"', 'name = "owm"', "trial.toml: the benchmark 'owm' is none of gutenqa, "),
        (
            'data = "own"',
            'data = "own"\nbooks = ["Emma"]',
            "the benchmark own has no books to choo",
        ),
        ('data = "own"', 'data = "own"\nfoo = 1', "trial.toml: the name 'foo' is none of books, "),
        ("[[method]]", "[[method]", "trial.toml: is not TOML ("),
        ('"retrieval"', '"segmentation"', "own has no gold boundaries to compare with"),
        ('method = "recursive"', 'method = "recursif"', "trial.toml: method 'recursif' is none of"),
    ],
)
def test_what_cannot_be_run_leaves_nothing_behind(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    folder = bench(tmp_path)
    (folder / "trial.toml").write_text(EXPERIMENT.replace(before, after))
    refused(folder, evaluate(folder, "out"), said)


def test_a_folder_of_data_that_is_not_there(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    done = evaluate(folder, "out", "--data", folder / "nowhere")
    refused(folder, done, f"{folder}/nowhere/own: no such file or folder; own is read from ")


def test_an_experiment_that_is_not_there(tmp_path: Path) -> None:
    done = evaluate(tmp_path, "out")
    refused(tmp_path, done, f"{tmp_path}/trial.toml: cannot be read (No such file or directory)")


def test_a_pattern_that_matches_nothing(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    refused(folder, evaluate(folder, "out", "--only", "x*"), "--only 'x*' matches none of: recurs")


def test_a_malformed_question(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    (folder / "own" / "questions.jsonl").write_text('{"document": "clock.txt"}\n')
    done = evaluate(folder, "out")
    assert (done.status, done.out) == (1, b"")
    assert done.err == (
        f"lgmgc: {folder}/own/questions.jsonl: line 1 needs text in the field 'question'\n"
    )
    assert not (folder / "out").exists()


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    (folder / "file").write_text("kept")
    done = evaluate(folder, "file")
    refused(folder, done, f"{folder}/file: cannot be made (File exists); give another --out")
    assert (folder / "file").read_text() == "kept"


def test_answers_in_a_file_that_is_something_else(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    diary = folder / "diary.txt"
    diary.write_text("Dear diary.\n" * 99)
    done = evaluate(folder, "out", "--answers", diary)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(f"lgmgc: {diary}: cannot be used as a cache of answers (")
    assert diary.read_text() == "Dear diary.\n" * 99


def test_an_absent_model(tmp_path: Path) -> None:
    folder = bench(tmp_path)
    done = evaluate(folder, "out", "--embedder", "/nowhere/at/all")
    assert done.status == 2
    assert done.err.splitlines()[0] == "own: recursive"
    assert done.err.splitlines()[1].startswith("lgmgc: ")
    assert "/nowhere/at/all" in done.err
    assert list((folder / "out").iterdir()) == []


def test_benchmarks_are_listed() -> None:
    done = run("eval", "list")
    assert done.status == 0
    lines = done.out.decode().splitlines()
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [
        "gutenqa", "chapters", "longbench", "chroma", "qmsum", "choi", "boundaries", "own",
    ]  # fmt: skip
    assert "    a folder with .ref files in it or below it" in lines


def test_results_that_are_not_there(tmp_path: Path) -> None:
    done = run("eval", "compare", tmp_path, tmp_path / "b")
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(f"lgmgc: {tmp_path}/results.json: cannot be read (No such file")
