"""The workers of a Ray cluster, and how to reach them.

Ray reports how it is used to its makers unless told not to; importing this tells it (law 6).
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.devices import Place, count_on_cpu
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.processes import ChunkerProcesses
from lgmgc.errors import LgmgcError, UsageError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
import ray.data

_RETRIES = 3  # Ray's own number is no limit, which would never end where a machine dies of a batch
_BLOCKS = 4096  # so many rows are handed out one by one, of more a few at once
_OBJECTS = 1 << 28  # bytes of the object store; what goes to and from workers is small
_PATIENCE = 20  # seconds that a cluster is given to say that it is there
_CORES = 4  # of a worker, where nothing else is said: more threads gain a small model little


@dataclass(frozen=True, slots=True)
class Pool:
    """The workers of a cluster, each with one process that holds the models.

    Attributes:
        size: how many.
        threads: of each on the CPU; 0: each has a GPU.
    """

    size: int
    threads: int = 0

    @property
    def options(self) -> dict[str, Any]:
        """What Ray Data's ``map_batches`` is told.

        A worker on the CPU asks for half of its cores, so that some are left for the tasks that
        read; a worker whose machine goes is begun elsewhere, and its batch done again.
        """
        cores = max(0.5, self.threads // 2)
        return {
            "compute": ray.data.ActorPoolStrategy(size=self.size, max_tasks_in_flight_per_actor=1),
            **({"num_cpus": cores} if self.threads else {"num_gpus": 1}),
            "ray_remote_args_fn": lambda: {"max_task_retries": _RETRIES},
        }

    @property
    def place(self) -> Place:
        """Where the process of a worker works; asked in the worker."""
        if self.threads:
            place = Place.on_cores(self.threads)
        else:
            place = Place.on_gpu(",".join(map(str, ray.get_gpu_ids())))
        closed = ("HF_HUB_OFFLINE", "1")  # as the command line has it (law 6)
        return replace(place, environment=(*place.environment, closed))


def pool(devices: str | None = None) -> Pool:
    """Look at the cluster that this program has joined, and divide it among workers.

    Args:
        devices: ``all`` GPUs; or ``cpu:8``, eight workers that share the cores of all machines.
            None: all GPUs, or where there is none, a worker for each four cores.

    Raises:
        UsageError: it says none of these, or the cluster does not have them.
    """
    asked = count_on_cpu(devices or "")
    if devices not in (None, "all") and not asked:
        raise UsageError(f"devices {devices!r}: on a cluster, say all, or cpu:8 for eight workers")
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    gpus = int(sum(node.get("GPU", 0) for node in nodes))
    cores = [max(1, int(node["CPU"])) for node in nodes if node.get("CPU", 0) >= 1]
    if devices == "all" and not gpus:
        raise UsageError("devices all: the cluster has no GPU; cpu:8 would be eight workers")
    if gpus and not asked:
        return Pool(gpus)
    if not cores:
        raise UsageError("the cluster has no core to work on; see `ray status`")
    size = asked or max(1, sum(cores) // _CORES)
    if size > sum(cores):
        raise UsageError(f"devices {devices}: the cluster has {sum(cores)} cores; name fewer")
    # The most threads for which so many workers fit, none of them across two machines.
    threads = next(n for n in range(max(cores), 0, -1) if sum(c // n for c in cores) >= size)
    return Pool(size, threads)


class Worker:
    """One of a pool: its models are in a process below it, whose death costs one document."""

    def __init__(self, settings: Settings, choice: ModelChoice, pool: Pool) -> None:
        """Prepare; models are loaded at the first document.

        Args:
            settings: what decides the chunks.
            choice: of the models.
            pool: that this is of.
        """
        self._arguments = settings, choice, pool
        self._cutter: ChunkerProcesses | None = None

    def cutter(self) -> ChunkerProcesses:
        """What cuts, begun.

        Raises:
            ModelError: a model is absent on this machine, damaged or unfit.
        """
        if self._cutter is None:
            settings, choice, pool = self._arguments
            # It ends with this worker, as its end of the pipe does.
            self._cutter = ChunkerProcesses(settings, choice, [pool.place]).__enter__()
        return self._cutter


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Join a cluster for a while, and say nothing but what is wrong.

    Args:
        address: as Ray has it, such as ``auto`` for the cluster of this machine or ``head:6379``;
            ``local`` for one on this machine alone, which is begun and ended here.

    Raises:
        UsageError: there is no such cluster, or it wants a token.
    """
    if re.fullmatch(r"[^/]+:\d+", address):
        _knock(address)
    alone: dict[str, Any] = {
        "include_dashboard": False,
        "object_store_memory": _OBJECTS,
        "_node_ip_address": "127.0.0.1",
    }
    ends = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(alone if address == "local" else {}),
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        told = str(error).partition("\n")[0]
        raise UsageError(
            f"no Ray cluster at {address!r} ({told}); see `ray status` there, or say local"
        ) from None
    signal.signal(signal.SIGTERM, ends)  # Ray puts its own in the place
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # errors are raised too
    warnings.filterwarnings("ignore", ".*ray_remote_args_fn", module="lgmgc")
    warnings.filterwarnings("ignore", module="ray")  # such as of fewer actors than processors
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Ask with Ray's own command, for joining would try for minutes before it failed.

    Raises:
        UsageError: nobody answers, or the cluster wants a token.
    """
    command = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address", address]
    told = b""
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=_PATIENCE)
        if done.returncode == 0:
            return
        told = done.stderr
    except subprocess.TimeoutExpired:
        pass
    if b"InvalidAuthToken" in told:
        raise UsageError(
            f"the Ray cluster at {address} wants a token; set RAY_AUTH_MODE=token here, and copy "
            "~/.ray/auth_token from its head"
        )
    raise UsageError(f"no Ray cluster answers at {address}; see `ray status` there, or say local")


def answers(
    rows: Sequence[dict[str, Any]],
    worker: type[Worker],
    argument: object,
    pool: Pool,
) -> Iterator[dict[str, Any]]:
    """Give rows to workers one by one, and give what they answer as it comes.

    Args:
        rows: of what Arrow can hold.
        worker: a class whose objects are called with a row.
        argument: of its constructor.
        pool: of so many.

    Raises:
        LgmgcError: a worker was lost too often.
    """
    dataset = ray.data.from_items(list(rows), override_num_blocks=min(len(rows), _BLOCKS))
    mapped = dataset.map(cast(Any, worker), fn_constructor_args=(argument,), **pool.options)
    try:
        batches: Iterable[Any] = mapped.iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=0
        )
        for batch in batches:
            yield from batch.to_pylist()
    except ray.exceptions.RayTaskError:
        raise  # a defect
    except ray.exceptions.RayError as error:
        told = str(error).partition("\n")[0]
        raise LgmgcError(
            f"a worker of the cluster was lost, also when it was begun again ({told}); see whether "
            "its machine has memory enough, and give the same command again to go on"
        ) from None
