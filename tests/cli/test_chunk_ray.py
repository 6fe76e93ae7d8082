"""`--ray` on a real Ray of this machine, with two workers; it is started, for it opens sockets."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.cli.program import Done, run, start
from tests.cli.small_documents import MG, TEXT, write_documents

RAY = ("--ray", "local", "--devices", "cpu:2")
SHARDS = ("--shard-documents", "4")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ten small documents."""
    monkeypatch.chdir(tmp_path)
    write_documents(tmp_path / "docs", 10)
    return tmp_path


def on_ray(*arguments: str) -> Done:
    process = start("chunk", *arguments)
    out, err = process.communicate(timeout=120)
    # Ray's core warns of how Ray Data makes its actors; nothing but the log of all turns that off.
    told = [line for line in err.decode().splitlines() if "core_worker.cc" not in line]
    return Done(process.returncode, out, "\n".join(told))


def test_shards_are_those_of_one_process_and_go_on_where_they_were(here: Path) -> None:
    plain = run("chunk", "docs", *MG, "--out", "one/", "--format", "parquet", *SHARDS)
    assert plain.status == 0
    (here / "docs/99.txt").write_bytes(b"caf\xe9")
    first = on_ray("docs", *MG, "--out", "two/", *RAY, *SHARDS, "--max-failures", "0")
    assert first.status == 1
    assert first.err.splitlines()[0].startswith("lgmgc: docs/99.txt: byte 0xE9 at offset 3")
    assert "--max-failures is 0" in first.err.splitlines()[-1]
    (here / "docs/99.txt").unlink()
    second = on_ray("docs", *MG, "--out", "two/", *RAY, *SHARDS)
    assert second.status == 0, second.err
    parts = sorted(path.name for path in (here / "one").glob("part-*"))
    assert parts == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    for name in parts:
        assert (here / "one" / name).read_bytes() == (here / "two" / name).read_bytes()
    one, two = (
        json.loads((here / f"{o}/chunks.manifest.json").read_bytes()) for o in ("one", "two")
    )
    assert two["documents"] == one["documents"]
    assert two["counts"] == one["counts"]
    assert two["output"]["shards"] == one["output"]["shards"]
    assert two["output"]["shard_sources"] == 4


def test_a_run_that_was_killed_goes_on_by_shard(here: Path) -> None:
    for number in range(10, 60):
        (here / f"docs/{number}.txt").write_bytes(TEXT.encode() * 700)
    asked = ("docs", *MG, "--out", "o/", *RAY, "--shard-documents", "2")
    process = start("chunk", *asked)
    end = time.monotonic() + 90
    while len(list(here.glob("o/part-*"))) < 4:
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 143, told
    assert "give the same command again to go on" in told.splitlines()[-1]
    again = on_ray(*asked)
    assert again.status == 0, again.err
    assert "60 documents (0 empty, 0 failed, " in again.err
    assert " done before): " in again.err.splitlines()[-1]
    rows = [
        row
        for part in sorted(here.glob("o/part-*"))
        for row in parquet.read_table(part).to_pylist()
    ]
    assert rows == [json.loads(line) for line in run("chunk", "docs", *MG).out.splitlines()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("docs", "--ray", "local"), "--ray writes a folder of shards"),
        (("docs", "--ray", "local", "--out", "o.jsonl"), "--ray writes a folder of shards"),
        (("-", "--ray", "local", "--out", "o/"), "no other machine can read standard input"),
        (("docs", "--ray", "local", "--out", "o/", "--device", "cpu"), "--ray says where"),
    ],
)
def test_what_a_cluster_cannot_do(here: Path, options: tuple[str, ...], said: str) -> None:
    done = run("chunk", *options)
    assert done.status == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not list(here.glob("o*"))


def test_a_cluster_that_is_not_there(here: Path) -> None:
    done = on_ray("docs", "--out", "o/", "--ray", "127.0.0.1:9")
    assert done.status == 2
    assert done.err == (
        "lgmgc: no Ray cluster answers at 127.0.0.1:9; see `ray status` there, or say local"
    )
    assert not (here / "o").exists()


def test_a_model_that_is_not_there(here: Path) -> None:
    done = on_ray("docs", "--out", "o/", *RAY, "--model", "nowhere")
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith("lgmgc: no model 'nowhere'")
    assert len(done.err.splitlines()) == 1
    assert not (here / "o").exists()
