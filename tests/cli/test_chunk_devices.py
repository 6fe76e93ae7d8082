"""`--devices`: several processes, one output, and none of them is left whatever ends the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.program import run, start
from tests.cli.small_documents import MG, write_documents

COUNT = 30


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty small documents, one of which cannot be read."""
    monkeypatch.chdir(tmp_path)
    write_documents(tmp_path / "docs", COUNT)
    (tmp_path / "docs/07.txt").write_bytes(b"caf\xe9")
    return tmp_path


def test_files_and_manifest_are_those_of_one_process(here: Path) -> None:
    one = run("chunk", "docs", *MG, "--out", "one/", "--shard-documents", "7")
    two = run("chunk", "docs", *MG, "--out", "two/", "--shard-documents", "7", "--devices", "cpu:2")
    assert (one.status, two.status) == (1, 1)
    assert two.err.splitlines()[0] == one.err.splitlines()[0]  # of the one that cannot be read
    names = sorted(path.name for path in (here / "one").iterdir())
    assert names == sorted(path.name for path in (here / "two").iterdir())
    manifests = []
    for name in names:
        if name.endswith(".manifest.json"):
            manifests = [json.loads((here / out / name).read_bytes()) for out in ("one", "two")]
        else:
            assert (here / "one" / name).read_bytes() == (here / "two" / name).read_bytes()
    for manifest in manifests:
        del manifest["seconds"]
    assert manifests[0] == manifests[1]


def test_rows_on_standard_output(here: Path) -> None:
    assert run("chunk", "docs", *MG, "--devices", "cpu:3").out == run("chunk", "docs", *MG).out


@pytest.mark.parametrize("options", [("--device", "cpu"), ("--device", "cuda")])
def test_device_and_devices(here: Path, options: tuple[str, str]) -> None:
    done = run("chunk", "docs", *options, "--devices", "cpu:2", "--out", "o.jsonl")
    assert done.status == 2
    assert done.err == (
        "lgmgc: --devices says where the model runs, as --device does; leave one out\n"
    )
    assert not list(here.glob("*o.jsonl*"))


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes below one, on Linux."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[1]) == process.pid:
            found.append(int(path.parent.name))
    return found


def alive(pids: list[int]) -> list[int]:
    def is_alive(pid: int) -> bool:
        try:
            return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False

    return [pid for pid in pids if is_alive(pid)]


def ended(pids: list[int], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while alive(pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pids)


def held() -> tuple[subprocess.Popen[bytes], list[int]]:
    """A run that waits for its last document, standard input, and its processes."""
    process = start(
        *("chunk", "docs", "-", *MG, "--out", "o.jsonl", "--devices", "cpu:2"),
        *("--save-text", "texts"),
    )
    end = time.monotonic() + 60
    while not Path("texts").exists() or len(list(Path("texts").glob("*.txt"))) < COUNT - 1:
        assert time.monotonic() < end, "the run did not read its documents in a minute"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    time.sleep(0.5)
    pids = children(process)
    assert len(pids) >= 2
    return process, pids


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_and_one_process_goes_on(here: Path, number: signal.Signals) -> None:
    process, pids = held()
    if number == signal.SIGINT:  # a terminal sends it to all
        for pid in pids:
            os.kill(pid, number)
    process.send_signal(number)
    err = process.communicate()[1].decode().splitlines()
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -9)
    assert ended(pids)
    if number != signal.SIGKILL:
        assert len(err) == 2, err
        assert "give the same command again to go on" in err[-1]
    done = run("chunk", "docs", "-", *MG, "--out", "o.jsonl", stdin=b"The end.")
    assert " done before)" in done.err.splitlines()[-1]
    assert (here / "o.jsonl").read_bytes() == run("chunk", "docs", "-", *MG, stdin=b"The end.").out
