"""Where the processes of a run work: a GPU each, or a share of the processor's cores."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from lgmgc.errors import UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """Where one process works.

    Attributes:
        device: ``cuda`` or ``cpu``.
        environment: what it sees there: its GPU only, or its share of the cores.
    """

    device: str
    environment: tuple[tuple[str, str], ...] = ()

    @classmethod
    def on_gpu(cls, visible: str) -> Place:
        """A GPU, by what the driver calls it."""
        return cls("cuda", ((_VISIBLE, visible),))

    @classmethod
    def on_cores(cls, count: int) -> Place:
        """So many of the processor's cores."""
        return cls("cpu", (("OMP_NUM_THREADS", str(count)),))

    @property
    def name(self) -> str:
        """For messages."""
        return "the CPU" if self.device == "cpu" else f"GPU {dict(self.environment)[_VISIBLE]}"


def places(asked: str) -> list[Place]:
    """Read what ``--devices`` says.

    Args:
        asked: ``all`` GPUs; numbers of some, such as ``0,1``; or ``cpu:2``, two processes that
            share the cores.

    Raises:
        UsageError: it says none of these, or there is no such GPU.

    >>> [place.device for place in places("cpu:2")]
    ['cpu', 'cpu']
    """
    if count := count_on_cpu(asked):
        return [Place.on_cores(max(1, _cores() // count))] * count
    if asked != "all" and not re.fullmatch(r"\d{1,4}(,\d{1,4})*", asked):
        raise UsageError(f"--devices {asked!r} is none of all, numbers such as 0,1, and cpu:2")
    there = _gpus()
    if not there:
        raise UsageError(
            f"--devices {asked}: no CUDA GPU is usable from this torch; cpu:2 would be two "
            "processes on the CPU"
        )
    numbers = range(len(there)) if asked == "all" else [int(part) for part in asked.split(",")]
    if len(set(numbers)) < len(numbers):
        raise UsageError(f"--devices {asked}: names a GPU twice")
    if max(numbers) >= len(there):
        raise UsageError(
            f"--devices {asked}: there is no GPU {max(numbers)}; the last is {len(there) - 1}"
        )
    return [Place.on_gpu(there[number]) for number in numbers]


def count_on_cpu(asked: str) -> int:
    """How many processes ``--devices`` asks for on the CPU; 0 where it names GPUs.

    >>> count_on_cpu("cpu:2"), count_on_cpu("0,1")
    (2, 0)
    """
    found = re.fullmatch(r"cpu:([1-9]\d{0,3})", asked)
    return int(found[1]) if found else 0


_VISIBLE = "CUDA_VISIBLE_DEVICES"


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gpus() -> list[str]:
    """What the driver calls the GPUs that this process sees, in torch's order."""
    import torch

    given = [name.strip() for name in os.environ.get(_VISIBLE, "").split(",") if name.strip()]
    return (given or list(map(str, range(torch.cuda.device_count()))))[: torch.cuda.device_count()]
