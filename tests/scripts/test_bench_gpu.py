"""scripts/bench_gpu from end to end on the CPU with tiny shapes, and with parts that fail."""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

SCRIPTS = Path(__file__).parents[2] / "scripts"

MISSING = ("nupunkt", "sentencex", "platformdirs", "gguf", "typer", "tiktoken", "torchao")
"""Libraries that a machine with torch and transformers need not have."""


@pytest.fixture(scope="module")
def bench() -> Any:
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader("bench_gpu", str(SCRIPTS / "bench_gpu"))
    spec = importlib.util.spec_from_loader("bench_gpu", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_gpu"] = module  # dataclasses look there
    loader.exec_module(module)
    return module


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """The script's own modules, by name."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return lambda name: importlib.import_module(f"gpu_checks.{name}")


@pytest.fixture
def here(bench: Any, checks: object, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The script run in this process, so that a test may change what it calls."""

    def supervise(asked: argparse.Namespace, names: list[str], state: Path) -> None:
        asked.worker, asked.only = state, names
        bench.work(asked)

    monkeypatch.setattr(bench, "supervise", supervise)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # put back afterwards
    monkeypatch.setenv("GOMP_SPINCOUNT", os.environ.get("GOMP_SPINCOUNT", "10000"))
    return lambda *names, more=(): bench.main(
        ["--tiny", *more, *(f"--only={name}" for name in names)]
    )


def test_it_runs_to_the_end_with_nothing_but_torch_and_transformers(
    bench: Any, tmp_path: Path
) -> None:
    hide = f"import sys; sys.modules.update(dict.fromkeys({MISSING}))"
    (tmp_path / "sitecustomize.py").write_text(hide)
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "bench_gpu"), "--tiny", "--seconds=900"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    plan, *sections = done.stdout.split("\n## ")
    assert [text.split("\n")[0] for text in sections] == [
        *(section.name for section in bench.SECTIONS),
        "Summary",
    ]
    tables = {text.split("\n")[0]: text for text in sections}
    for section in bench.SECTIONS:
        assert f"| {section.name} |" in plan
        if section.needs == "torchao":
            assert "Not run: torchao is not installed." in tables[section.name]
        else:
            assert "\n|---|" in tables[section.name]
    # What a CPU has not is a cell of its table, and no section fails.
    assert tables["attention"].count("failed: ") == 2
    assert "| bf16 into fp32 | failed: NotImplementedError" in tables["products"]
    assert tables["correctness"].count("| holds |") == 9
    assert "FAILED" not in done.stdout
    assert "Sections that failed: none." in tables["Summary"]
    assert "Dropped for want of time: nothing." in tables["Summary"]
    assert "bf16 θ=30 budget=256" in done.stderr


def test_a_precision_that_fails_costs_its_own_numbers_only(
    here: Callable[..., int],
    checks: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def broken(layer: object) -> None:
        raise RuntimeError("no kernel | for this card")

    monkeypatch.setattr(checks("networks"), "_int8", broken)
    assert here("int8", "int4") == 0
    out = capfd.readouterr().out
    assert "\nfailed: RuntimeError: no kernel / for this card\n" in out
    assert "| 30 | 256 | " in out.split("## int4")[1]
    assert "Sections that failed: int8." in out


def test_a_cut_that_is_wrong_is_a_failure(
    here: Callable[..., int],
    checks: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    correct = checks("correct")
    right = correct.full_scores

    def shifted(*given: object) -> list[Any]:
        return [scores + 0.01 for scores in right(*given)]

    monkeypatch.setattr(correct, "full_scores", shifted)
    monkeypatch.setattr(correct, "NEEDS", {"bf16": ""})
    assert here("correctness") == 1
    out = capfd.readouterr().out
    assert "fp32 on cpu: gathered equals full logits | largest difference 1.0e-02 nats" in out
    assert out.count("FAILED") == 1
    assert "did not hold: fp32 on cpu: gathered equals full logits." in out


def test_what_the_time_does_not_allow_is_dropped_and_named(
    here: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert here("prefix", "int4", more=("--seconds=0",)) == 0
    out = capfd.readouterr().out
    assert out.count("dropped: too little time is left") == 2
    assert "Dropped for want of time: prefix, int4." in out


def test_a_worker_that_dies_or_loses_its_device_is_followed_by_another(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # Begins what it is told, and dies of int8 as a library without the card's kernels would.
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import json, os, pathlib, signal, sys\n"
        "state = pathlib.Path(sys.argv[1].removeprefix('--worker='))\n"
        "for name in [a.removeprefix('--only=') for a in sys.argv if a.startswith('--only=')]:\n"
        "    state.with_suffix('.begun').write_text(name)\n"
        "    if name == 'int8':\n"
        "        import time; time.sleep(0.5)\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    end = {'name': name, 'failed': name == 'bf16', 'wrong': [], 'dropped': []}\n"
        "    with state.open('a') as stream: stream.write(json.dumps(end) + '\\n')\n"
        "    if name == 'bf16': sys.exit(77)\n"
    )
    monkeypatch.setattr(bench, "HERE", worker)
    assert (
        bench.main(["--tiny", "--only=products", "--only=bf16", "--only=int8", "--only=int4"]) == 0
    )
    out = capfd.readouterr().out
    assert "failed: the process ended with status -11" in out
    assert "Sections that failed: bf16, int8." in out
    assert "Dropped for want of time: nothing." in out


def test_weights_are_made_on_the_device(checks: Callable[[str], Any]) -> None:
    # On torch's device without memory; whatever was made on the CPU first would be seen.
    checks("networks").build(checks("shapes").LLAMA_3_8B.llama, torch.device("meta"))


def test_windows_are_whole_sentences_within_theta_and_the_same_every_time(
    checks: Callable[[str], Any],
) -> None:
    made = checks("shapes").windows(300, 50_000, 1_000, seed=1)
    again = checks("shapes").windows(300, 50_000, 1_000, seed=1)
    lengths = [len(one.window.ids) for one in made]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths == [len(one.window.ids) for one in again]
    assert sum(lengths) >= 50_000
    words = np.array([one.words for one in made])
    assert 200 < words.min() <= words.max() <= 300
    assert np.mean(lengths / words) == pytest.approx(1.35, abs=0.02)
    assert all(one.window.ends[-1] == len(one.window.ids) for one in made)


def test_sentences_of_a_made_up_document_tile_it(checks: Callable[[str], Any]) -> None:
    text, bounds = checks("shapes").Prose().document(500)
    assert (bounds[0], bounds[-1]) == (0, len(text))
    assert all(text[b - 2 : b] == ". " for b in bounds[1:])


def test_what_a_moved_cut_is_worth_by_hand(checks: Callable[[str], Any]) -> None:
    gap = checks("correct").gap
    some, others = np.array([-1.0, -3.0, -2.0]), np.array([-1.5, -3.0, -1.25])
    assert gap(some, others) == 0.25  # of 1.0 that the first prefers its own by, and 0.25
    assert gap(some, some) == 0.0


def test_a_failed_case_is_words_and_lets_its_memory_go(checks: Callable[[str], Any]) -> None:
    devices, cpu = checks("device"), torch.device("cpu")

    def lacking() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    def lost() -> None:
        raise devices.DeviceLost("unspecified launch failure")

    assert devices.guarded(cpu, lacking) == "out of memory"
    assert devices.guarded(cpu, lambda: 1 / 0) == "failed: ZeroDivisionError: division by zero"
    assert devices.guarded(cpu, lambda: 3) == 3
    with pytest.raises(devices.DeviceLost):
        devices.guarded(cpu, lost)


def test_the_clock_takes_the_median(checks: Callable[[str], Any]) -> None:
    naps = iter([0.0, 0.0, 0.08, 0.0, 0.02])  # two to warm up
    devices = checks("device")
    seconds = devices.seconds_of(torch.device("cpu"), lambda: time.sleep(next(naps)), most=9.0)
    assert 0.02 <= seconds < 0.08
