"""The device: its clock, its memory, and what goes wrong on it."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import torch

from gpu_checks.shapes import Shape
from lgmgc.lm.windows import OutOfMemoryError

Result = TypeVar("Result")
GIB = 2**30
Lines = Iterator[str]
"""What a section gives: lines of Markdown, each as soon as it is known."""


class DeviceLost(Exception):
    """The driver has given the process up; only another process can go on."""


@dataclass(slots=True)
class Bench:
    """What every section is given.

    Attributes:
        device: where all is measured.
        shape: what is measured.
        deadline: the second since the epoch at which no case may run any more.
        model: a real model's folder or GGUF file; None to look in the cache.
        text: a real text.
        dropped: cases that were left out for want of time.
        wrong: checks that did not hold.
    """

    device: torch.device
    shape: Shape
    deadline: float
    model: Path | None = None
    text: Path | None = None
    dropped: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def has(self, seconds: float, what: str) -> bool:
        """Whether that much time is left; what is dropped is remembered."""
        if time.time() + seconds < self.deadline:
            return True
        self.dropped.append(what)
        return False


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def settle(device: torch.device) -> None:
    """Wait until all that was asked of the device is done.

    Raises:
        DeviceLost: it will do nothing any more.
    """
    if device.type == "cuda":
        try:
            torch.cuda.synchronize()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise DeviceLost(short(error)) from None


def free(device: torch.device) -> None:
    """Give back what nobody holds, and begin to count the peak anew."""
    gc.collect()
    settle(device)
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def held(device: torch.device) -> float:
    """Bytes in tensors now; 0 on a CPU, where torch does not count."""
    return torch.cuda.memory_allocated() if device.type == "cuda" else 0.0


def peak(device: torch.device) -> float:
    """The most bytes in tensors since `free`."""
    return torch.cuda.max_memory_allocated() if device.type == "cuda" else 0.0


def guarded(device: torch.device, run: Callable[[], Result]) -> Result | str:
    """What a function gives, or in words why it gives nothing.

    What a failed case held is free before the next one.

    Raises:
        DeviceLost: nothing can follow in this process.
    """
    try:
        return run()
    except DeviceLost:
        raise
    except Exception as error:
        lacking = isinstance(error, torch.OutOfMemoryError | OutOfMemoryError | MemoryError)
        reason = "out of memory" if lacking else f"failed: {short(error)}"
    # Outside the handler: the error held the frames, and they the tensors.
    free(device)
    return reason


def short(error: BaseException) -> str:
    """An error in one line that a table can hold."""
    text = " ".join(str(error).split()).replace("|", "/")
    return f"{type(error).__name__}: {text[:110]}"


def seconds_of(
    device: torch.device, run: Callable[[], object], most: float, repeats: int = 3
) -> float:
    """The median time of a function.

    It is run once to warm up, twice if it is quick; then at least twice, until ``repeats`` or
    ``most`` seconds are reached.
    """
    for _ in range(2 if most else 1):
        began = time.perf_counter()
        run()
        settle(device)
        if time.perf_counter() - began > 0.2:
            break
    spent: list[float] = []
    while len(spent) < 2 or (len(spent) < repeats and sum(spent) < most):
        began = time.perf_counter()
        run()
        settle(device)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def per_call(device: torch.device, run: Callable[[], object], calls: int) -> float:
    """Seconds of a kernel: by the device's own clock, over several calls without a pause."""
    run()
    settle(device)
    if device.type != "cuda":
        began = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - began) / calls
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in "ab")
    start.record()
    for _ in range(calls):
        run()
    stop.record()
    settle(device)
    return float(start.elapsed_time(stop)) / 1_000 / calls


def heads(*names: str) -> Lines:
    """The first two lines of a table, after a blank one."""
    yield ""
    yield row(names)
    yield "|---" * len(names) + "|"


def row(cells: Sequence[object]) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def gib(bytes_: float) -> str:
    """Bytes for a table; a dash where torch does not count."""
    return f"{bytes_ / GIB:.2f} GiB" if bytes_ > 0 else "–"
