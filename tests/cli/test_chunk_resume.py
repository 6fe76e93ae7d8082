"""Law 7: a run that is killed goes on, and writes what an undisturbed run writes."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Done, run, start

MG = ("--method", "mg", "--theta", "20")
TEXT = "One thing. Another thing.\r\nA third\tthing, caf\u00e9.\r\n\r\n"
COUNT = 50


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fifty small documents, one of which cannot be read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(COUNT):
        (tmp_path / f"docs/{number:02}.txt").write_bytes(f"{TEXT * 10}{number}".encode())
    (tmp_path / "docs/07.txt").write_bytes(b"caf\xe9")
    return tmp_path


def content(*places: Path) -> dict[str, Any]:
    """The output's files; of a manifest, all but the time that it took."""
    found: dict[str, Any] = {}
    for place in places:
        for path in [place] if place.is_file() else sorted(place.iterdir()):
            found[path.name] = path.read_bytes()
            if path.name.endswith(".manifest.json"):
                found[path.name] = json.loads(path.read_bytes())
                assert set(found[path.name].pop("seconds")) == {"loading", "chunking"}
    return found


def written(here: Path, out: str) -> dict[str, Any]:
    if out.endswith("/"):
        return content(here / out)
    return content(here / out, here / f"{out}.manifest.json")


def hidden(here: Path) -> list[str]:
    return [path.name for path in here.rglob(".*")]


# One process has everything imported, and forks a run, so that a run begins to work at once.
FORKING = """
import os, signal, sys, time
from lgmgc import LGMGC
from lgmgc.cli.app import main
LGMGC.from_pretrained(method="mg", theta=20).chunk("One thing. Another thing.")
print("ready", flush=True)
for line in sys.stdin:
    after, *arguments = line.split()
    sys.argv = ["lgmgc", *arguments]
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 2)
        main()
        os._exit(0)
    done = 0
    while not done and time.monotonic() < begun + float(after):
        time.sleep(0.001)
        done, status = os.waitpid(child, os.WNOHANG)
    if not done:
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    print(os.waitstatus_to_exitcode(status), time.monotonic() - begun, flush=True)
"""


class Forking:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"

    def run(self, *arguments: str, kill_after: float = 60) -> tuple[int, float]:
        """Give the exit status and the seconds; killed if it is still running then."""
        assert self._process.stdin
        assert self._process.stdout
        print(kill_after, *arguments, file=self._process.stdin, flush=True)
        status, seconds = self._process.stdout.readline().split()
        return int(status), float(seconds)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def forking() -> Any:
    process = Forking()
    yield process
    process.end()


@pytest.mark.parametrize("out", ["o.jsonl", "o/"])
def test_kill_9_at_ten_random_moments(here: Path, forking: Forking, out: str) -> None:
    shards = ("--shard-documents", "7") if out == "o/" else ()
    given = ("chunk", "docs", *MG, *shards, "--out")
    for name in ("whole", *"0123456789"):
        (here / name).mkdir()

    def run_in(name: str, kill_after: float = 60) -> tuple[int, float]:
        return forking.run(*given, f"{name}/{out}", kill_after=kill_after)

    status, seconds = run_in("whole")
    assert status == 1  # for the document that cannot be read
    expected = written(here / "whole", out)
    draw = random.Random(7)
    killed = 0
    for moment in range(10):
        # Spread over the whole run: its beginning and its end are in it.
        name = str(moment)
        status, _ = run_in(name, kill_after=seconds * (moment + draw.random()) / 10)
        killed += status == -signal.SIGKILL
        left = {path.name: path.stat().st_ino for path in (here / name).glob("o/part-*")}
        unfinished = hidden(here / name)
        status, _ = run_in(name)
        assert status == 1
        assert written(here / name, out) == expected, moment
        assert not hidden(here / name)
        if unfinished:  # shards that were there were not written again
            now = {path.name: path.stat().st_ino for path in (here / name).glob("o/part-*")}
            assert left.items() <= now.items()
    assert killed >= 5


def test_killed_again_and_again(here: Path, forking: Forking) -> None:
    _, seconds = forking.run("chunk", "docs", *MG, "--out", "whole.jsonl")
    draw = random.Random(8)
    for _ in range(10):
        after = seconds * draw.random() / 4
        forking.run("chunk", "docs", *MG, "--out", "o.jsonl", kill_after=after)
    status, _ = forking.run("chunk", "docs", *MG, "--out", "o.jsonl")
    assert status == 1
    assert (here / "o.jsonl").read_bytes() == (here / "whole.jsonl").read_bytes()
    assert not hidden(here)


# What follows ends a run in its middle: standard input is the last document and stays open, so the
# run has done what came before and waits.


def held(here: Path, out: str = "o.jsonl") -> subprocess.Popen[bytes]:
    if out.endswith(".jsonl"):
        (here / out).write_text("old")
    shards = ("--shard-documents", "7") if out.endswith("/") else ()
    process = start("chunk", "docs", "-", *MG, "--out", out, *shards, "--save-text", "texts")
    end = time.monotonic() + 60
    while not (here / "texts").exists() or len(list((here / "texts").glob("*.txt"))) < COUNT - 1:
        assert time.monotonic() < end, "the run did not read its documents in a minute"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)
    time.sleep(0.5)  # the last one is being cut
    return process


def again(*options: str, stdin: bytes = b"The end.") -> Done:
    return run("chunk", "docs", "-", *MG, "--out", "o.jsonl", *options, stdin=stdin)


def undisturbed(here: Path) -> bytes:
    done = run("chunk", "docs", "-", *MG, stdin=b"The end.")
    return done.out


def test_kill_9_leaves_what_was_there_and_the_same_command_goes_on(here: Path) -> None:
    process = held(here)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert (here / "o.jsonl").read_text() == "old"
    assert not (here / "o.jsonl.manifest.json").exists()
    done = again()
    first, failed, last = done.err.splitlines()
    assert first == "o.jsonl: 49 documents done before; --fresh would start again"
    assert failed.startswith("lgmgc: docs/07.txt: byte 0xE9")
    assert last.startswith("51 documents (0 empty, 1 failed, 49 done before): ")
    assert done.status == 1
    assert (here / "o.jsonl").read_bytes() == undisturbed(here)
    assert not hidden(here)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_says_how_to_go_on(here: Path, number: signal.Signals, status: int) -> None:
    process = held(here)
    process.send_signal(number)
    err = process.communicate()[1].decode().splitlines()
    assert process.returncode == status
    assert err[-1] == (
        "lgmgc: o.jsonl: stopped with 49 documents done; give the same command again to go on"
    )
    assert len(err) == 2  # the other is of the document that failed
    assert (here / "o.jsonl").read_text() == "old"
    assert hidden(here) == [".o.jsonl.partial"]
    again()
    assert (here / "o.jsonl").read_bytes() == undisturbed(here)
    assert not hidden(here)


def test_shards_stay_when_a_run_is_stopped(here: Path) -> None:
    process = held(here, "out/")
    process.send_signal(signal.SIGINT)
    process.communicate()
    shards = sorted(path.name for path in (here / "out").glob("part-*"))
    assert shards == [f"part-{k:05}.jsonl" for k in range(7)]
    assert not (here / "out/chunks.manifest.json").exists()


def stopped(here: Path) -> None:
    process = held(here)
    process.kill()
    process.communicate()


def test_documents_that_changed_in_between(here: Path) -> None:
    stopped(here)
    (here / "docs/03.txt").write_text("Another text.")
    (here / "docs/04.txt").unlink()
    (here / "docs/03b.txt").write_text("A new one.")
    (here / "docs/07.txt").write_text("Mended.")
    done = again()
    assert done.status == 0
    assert done.err.splitlines()[-1].startswith("51 documents (0 empty, 0 failed, 47 done before)")
    assert (here / "o.jsonl").read_bytes() == undisturbed(here)


def test_another_configuration_is_refused_with_the_difference(here: Path) -> None:
    stopped(here)
    left = (here / ".o.jsonl.partial").stat().st_size
    done = again("--theta", "30", "--normalize")
    assert done.status == 2
    assert done.err == (
        "lgmgc: o.jsonl: was begun otherwise (theta: 20 → 30; normalize: false → true); give the "
        "same again to go on, or --fresh to start again\n"
    )
    assert (here / ".o.jsonl.partial").stat().st_size >= left
    done = again("--nest")
    assert "o.jsonl: was begun otherwise (nest: false → true)" in done.err
    assert again("--theta", "30", "--fresh").status == 1
    whole = run("chunk", "docs", "-", *MG, "--theta", "30", stdin=b"The end.")
    assert (here / "o.jsonl").read_bytes() == whole.out
    assert not hidden(here)


def test_boundaries_are_part_of_the_configuration(here: Path) -> None:
    marks = here / "m.jsonl"
    marks.write_text('{"document": "docs/00.txt", "start": 0, "end": 11}\n')
    options = ("chunk", "docs", "--method", "manual", "--boundaries", "m.jsonl", "--out", "o.jsonl")
    assert run(*options, "--max-failures", "3").status == 1
    marks.write_text('{"document": "docs/00.txt", "start": 0, "end": 10}\n')
    assert "was begun otherwise (boundaries_sha256: " in run(*options).err


def test_too_many_failures_end_the_run_and_the_rest_stays(here: Path) -> None:
    for number in (20, 30):
        (here / f"docs/{number}.txt").write_bytes(b"caf\xe9")
    for out in ((), ("--out", "o.jsonl")):
        done = run("chunk", "docs", *MG, *out, "--max-failures", "2")
        assert done.status == 1
        assert len(done.err.splitlines()) == 4
        assert done.err.splitlines()[-1] == (
            "lgmgc: 3 documents failed, and --max-failures is 2; mend them or allow more, and give "
            "the same command again"
        )
    assert not (here / "o.jsonl").exists()
    done = run("chunk", "docs", *MG, "--out", "o.jsonl", "--max-failures", "3")
    assert done.err.splitlines()[-1].startswith("50 documents (0 empty, 3 failed, 28 done before)")
    assert (here / "o.jsonl").read_bytes() == run("chunk", "docs", *MG).out


def test_a_full_disk_is_one_sentence_and_can_be_gone_on_from(here: Path) -> None:
    size = 200_000
    process = start(
        "chunk",
        "docs",
        *MG,
        "--out",
        "o.jsonl",
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        environment=[("PYTHONDONTWRITEBYTECODE", "1")],
    )
    err = process.communicate()[1].decode().splitlines()
    assert process.returncode == 2
    assert err[-1].startswith("lgmgc: o.jsonl: cannot be written (")
    assert "make room" in err[-1]
    assert not [line for line in err if "Traceback" in line]
    assert not (here / "o.jsonl").exists()
    done = run("chunk", "docs", *MG, "--out", "o.jsonl")
    assert 1 <= int(done.err.split()[1]) < 49
    assert (here / "o.jsonl").read_bytes() == run("chunk", "docs", *MG).out
    assert not hidden(here)


def test_two_runs_into_one_output(here: Path) -> None:
    process = held(here)
    done = again()
    assert (done.status, done.err) == (
        2,
        "lgmgc: o.jsonl: another run is writing it; wait, or choose another place\n",
    )
    process.communicate(b"The end.")
    assert (here / "o.jsonl").read_bytes() == undisturbed(here)


def test_the_real_small_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(6):
        (tmp_path / f"docs/{number}.txt").write_text(f"The tide turned. Boats {number} put out.")
    # So few tokens that documents are done while others have not been read yet.
    options = ("--theta", "4", "--device", "cpu", "--batch-tokens", "4")
    given = ("chunk", "docs", *options)
    process = start(*given, "--out", "o.jsonl", "--save-text", "texts")
    end = time.monotonic() + 120
    while not (tmp_path / "texts").exists() or len(list((tmp_path / "texts").glob("*.txt"))) < 6:
        assert time.monotonic() < end, "the run did not read its documents in two minutes"
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.002)
    process.kill()
    process.communicate()
    done = run(*given, "--out", "o.jsonl")
    assert done.status == 0, done.err
    assert 1 <= int(done.err.split()[1]) < 6
    assert run(*given, "--out", "whole.jsonl").status == 0
    assert (tmp_path / "o.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    manifests = [content(tmp_path / f"{name}.jsonl.manifest.json") for name in ("o", "whole")]
    for name, [made] in zip(("o", "whole"), (each.values() for each in manifests), strict=True):
        assert made["output"].pop("file") == f"{name}.jsonl"
        for work in ("windows", "model_calls", "tokens_read"):  # what was lost was asked again
            assert made["counts"].pop(work) > 0
    assert list(manifests[0].values()) == list(manifests[1].values())
