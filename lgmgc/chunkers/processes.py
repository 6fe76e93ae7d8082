"""Several processes cut the documents of one run, a GPU or a share of the cores each."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Self

from lgmgc.chunkers import worker
from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.cutter import Advanced, Failed
from lgmgc.chunkers.devices import Place
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.work_queue import LATER, Holder, WorkQueue
from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError, LgmgcError

_PATIENCE = 5.0
"""Seconds that a process is given to end by itself."""


@dataclass(eq=False, slots=True, kw_only=True)
class _Process(Holder):
    """One of the processes.

    Attributes:
        place: where it works.
        process: itself.
        connection: to it.
        ready: what it said when its models were loaded.
        asks: it waits for an answer.
    """

    place: Place
    process: SpawnProcess
    connection: Connection
    ready: worker.Ready | None = None
    asks: bool = False


class ChunkerProcesses:
    """Cuts documents in several processes; the trees are those of one, in the same order (law 4).

    This process reads, and hands results on; each of the others loads its own models, and asks for
    documents when its batches have room. One that dies is begun again, and each document that it
    had is cut once more, alone; a document whose process dies again fails, and the others go on.

    A program does this under ``if __name__ == "__main__":``, for the processes import it. They end
    with the ``with`` block, or when this process is no more.

    >>> chunker = ChunkerProcesses(Settings(), ModelChoice(), places("all"))  # doctest: +SKIP
    >>> with chunker:  # doctest: +SKIP
    ...     for tree, taken in chunker.cut(documents, progress, failed):
    ...         print(tree.document.id, len(tree.parents), taken["tokens_read"])
    """

    def __init__(self, settings: Settings, choice: ModelChoice, places: Sequence[Place]) -> None:
        """Prepare; nothing is begun.

        Args:
            settings: what decides the chunks.
            choice: of the models; its ``device`` is not read.
            places: one for each process; see `lgmgc.chunkers.devices.places`.
        """
        self.total: Counter[str] = Counter()
        self._settings = settings
        self._choice = choice
        self._places = places
        self._processes: list[_Process] = []
        self._first = worker.Ready(None, 0, "")

    @property
    def identity(self) -> Mapping[str, object]:
        """See `lgmgc.chunkers.cutter.Cutter`."""
        return self._first.identity or {}

    @property
    def batch_tokens(self) -> int:
        """See `lgmgc.chunkers.cutter.Cutter`."""
        return self._first.batch_tokens

    @property
    def description(self) -> str:
        """See `lgmgc.chunkers.cutter.Cutter`."""
        models = self._first.description
        return f"{models}, in {len(self._places)} processes" if models else ""

    def __enter__(self) -> Self:
        """Begin the processes, and wait until all have loaded their models.

        Raises:
            ModelError: a model is absent, damaged or unfit.
            LgmgcError: a process ended before.
        """
        try:
            for place in self._places:
                self._processes.append(self._begin(place, identify=not self._processes))
            nothing = WorkQueue([], self._processes)
            while not all(each.ready for each in self._processes):
                self._listen(None, nothing, lambda *told: None)
            assert self._processes[0].ready
            self._first = self._processes[0].ready
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes."""
        self._end()

    def cut(
        self, documents: Iterable[Document], progress: Advanced, failed: Failed
    ) -> Iterator[tuple[Tree, Counter[str]]]:
        """See `lgmgc.chunkers.cutter.Cutter`; to its end, before the next.

        Raises:
            LgmgcError: what ends a run in one process too.
            RuntimeError: a defect; its text is the traceback in the other process.
        """
        queue = WorkQueue(documents, self._processes)
        queue.read()
        while not queue.done:
            for process in self._processes:
                self._answer(process, queue)
            self._listen(0 if queue.may_read else None, queue, progress)
            queue.read()
            for document, result in queue.results():
                if isinstance(result, DocumentError):
                    failed(document, result)
                else:
                    self.total.update(result[1])
                    yield result

    def _answer(self, process: _Process, queue: WorkQueue) -> None:
        given = queue.offer(process) if process.asks else LATER
        if given is not LATER:
            process.asks = False
            try:
                process.connection.send(given)
            except OSError:  # it died meanwhile, not of this; the end of what it said tells so
                queue.take_back(process, given)

    def _listen(self, seconds: float | None, queue: WorkQueue, progress: Advanced) -> None:
        """Take one message of each that has said something, or wait for the first.

        Args:
            seconds: to wait; None: until there is one.
            queue: takes results, and documents of a process that died.
            progress: is told.
        """
        spoken = wait([each.connection for each in self._processes], seconds)
        for k, process in enumerate(self._processes):
            if process.connection not in spoken:
                continue
            try:
                message: worker.Message = process.connection.recv()
            except (EOFError, OSError):
                self._processes[k] = self._replace(process, queue)
                continue
            match message:
                case worker.Ready():
                    process.ready = message
                case worker.Want():
                    process.asks = True
                case worker.Advanced(number, share):
                    if not process.alone:  # else it was told before, to where the first one died
                        progress(process.held[number], share)
                case worker.Cut(number, parents, taken):
                    tree = worker.unpacked(process.held[number], parents)
                    queue.settle(process, number, (tree, taken))
                case worker.Failed(number, error):
                    queue.settle(process, number, error)
                case worker.Broke(error):
                    raise error

    def _replace(self, process: _Process, queue: WorkQueue) -> _Process:
        """Begin a process anew in the place of one that died."""
        process.connection.close()
        process.process.join()
        status = process.process.exitcode or 0
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        if not process.ready:
            raise LgmgcError(
                f"a process on {process.place.name} {how} before its models were loaded; see "
                "whether memory ran out, or name fewer devices"
            )
        queue.lost(process, how)
        return self._begin(process.place)

    def _begin(self, place: Place, *, identify: bool = False) -> _Process:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=worker.work,
            args=(theirs, self._settings, self._choice, place, identify),
            daemon=True,
        )
        # Ctrl-C goes to all processes of a terminal; these end when this one says so. The tracker
        # is begun first, for beginning it would unblock the signal.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()  # else the end of the other process would not be the end of the pipe
        return _Process(place=place, process=process, connection=ours)

    def _end(self) -> None:
        for process in self._processes:
            process.connection.close()
            process.process.terminate()
        for process in self._processes:
            process.process.join(_PATIENCE)
            if process.process.is_alive():
                process.process.kill()
                process.process.join()
        self._processes.clear()
