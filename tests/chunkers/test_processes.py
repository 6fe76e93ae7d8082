"""Several processes, real ones; the methods need no model, so that they begin at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.cutter import OneProcess
from lgmgc.chunkers.devices import places
from lgmgc.chunkers.load import LoadedModels, ModelChoice
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.processes import ChunkerProcesses
from lgmgc.document import Document, Tree
from lgmgc.errors import LgmgcError, ModelError
from tests.fake import TEXTS

MG = Settings(method="mg", theta=20)
LONG = Document("long", "One thing. Another thing, and more of it. " * 20_000, {"year": 1901})


def processes(settings: Settings = MG, model: str | None = None) -> ChunkerProcesses:
    return ChunkerProcesses(settings, ModelChoice(model), places("cpu:2"))


def cut(
    chunker: ChunkerProcesses | OneProcess, documents: list[Document]
) -> tuple[list[Tree], list[str], Counter[str]]:
    """The trees, the failures' messages, and what was taken."""
    failures: list[str] = []
    cut = chunker.cut(
        documents, lambda *told: None, lambda document, error: failures.append(str(error))
    )
    trees, taken = [], Counter[str]()
    for tree, counts in cut:
        trees.append(tree)
        taken.update(counts)
    return trees, failures, taken


def one_process(settings: Settings, documents: list[Document]) -> list[Tree]:
    return cut(OneProcess(LoadedModels(), settings), documents)[0]


def many() -> list[Document]:
    short = {name: text for name, text in TEXTS.items() if len(text) < 20_000}
    return [Document(f"{name} {k}", text) for k in range(2) for name, text in short.items()]


def no_process_is_left() -> bool:
    return not multiprocessing.active_children()


def test_the_trees_are_those_of_one_process_in_their_order() -> None:
    documents = [Document("first", "A. B.", {"a": [1]}, (0, 3)), LONG, *many()]
    shares: Counter[str] = Counter()
    with processes() as chunker:
        chunks = chunker.cut(
            documents,
            lambda document, share: shares.update({document.id: share}),
            lambda document, error: pytest.fail(str(error)),
        )
        trees = [tree for tree, _ in chunks]
        assert trees == one_process(MG, documents)
        # The very documents, with what is carried along, and not copies of them.
        assert all(
            tree.document is document and all(chunk.document is document for chunk in tree)
            for tree, document in zip(trees, documents, strict=True)
        )
        assert shares == dict.fromkeys((document.id for document in documents), 1.0)
        plain = Chunker(MG)
        list(plain.chunk_many(documents))
        assert chunker.total["chunks"] == plain.counts.chunks
        assert chunker.total["words"] == plain.counts.words
        # And again, with the same processes.
        assert cut(chunker, documents[:3])[0] == trees[:3]
        assert cut(chunker, []) == ([], [], Counter())
    assert no_process_is_left()


def test_a_document_that_cannot_be_cut(tmp_path: Path) -> None:
    marks = tmp_path / "m.jsonl"
    marks.write_text('{"document": "b", "start": 0, "end": 99}\n')
    settings = Settings(method="manual", options=Options(boundaries=marks))
    documents = [Document(id, "One. Two.") for id in "abc"]
    with processes(settings) as chunker:
        trees, failures, _ = cut(chunker, documents)
    alone = cut(OneProcess(LoadedModels(), settings), documents)
    assert failures
    assert (trees, failures) == alone[:2]


def test_a_model_that_is_not_there_is_one_sentence() -> None:
    with (
        pytest.raises(ModelError, match="no model 'nowhere'"),
        processes(Settings(), model="nowhere"),
    ):
        pytest.fail("it was loaded")
    assert no_process_is_left()


class Killer:
    """Kills the process that holds a document, so many times."""

    def __init__(self, chunker: ChunkerProcesses, id: str, times: int) -> None:
        self.killed: list[int] = []
        self._thread = threading.Thread(target=self._kill, args=(chunker, id, times))
        self._thread.start()

    def _kill(self, chunker: ChunkerProcesses, id: str, times: int) -> None:
        end = time.monotonic() + 60
        while len(self.killed) < times and time.monotonic() < end:
            for each in list(chunker._processes):
                pid = each.process.pid
                held = [document.id for document in list(each.held.values())]
                if pid and pid not in self.killed and id in held:
                    time.sleep(0.1)  # until it has it whole
                    os.kill(pid, signal.SIGKILL)
                    self.killed.append(pid)
            time.sleep(0.002)

    def join(self) -> None:
        self._thread.join()


def test_a_process_that_dies_costs_nothing_but_time() -> None:
    documents = [*many()[:9], LONG, *many()[9:]]
    with processes() as chunker:
        killer = Killer(chunker, "long", 1)
        trees, failures, _ = cut(chunker, documents)
        killer.join()
    assert len(killer.killed) == 1
    assert failures == []
    assert trees == one_process(MG, documents)
    assert no_process_is_left()


def test_a_document_that_its_process_dies_of_twice_fails_and_the_others_go_on() -> None:
    documents = [*many()[:9], LONG, *many()[9:]]
    with processes() as chunker:
        killer = Killer(chunker, "long", 2)
        trees, failures, _ = cut(chunker, documents)
        killer.join()
    assert failures == [
        "long: the process that cut it was ended by signal 9, twice; leave it out, or see whether "
        "memory ran out"
    ]
    assert trees == one_process(MG, [each for each in documents if each is not LONG])


def kill_all() -> None:
    # Not joined: from another thread that would take the exit status away from who waits for it.
    for child in multiprocessing.active_children():
        child.kill()


def test_processes_that_die_without_work_are_begun_again() -> None:
    def source() -> Iterator[Document]:
        kill_all()
        yield from documents

    documents = many()
    with processes() as chunker:
        given = chunker.cut(source(), lambda *told: None, lambda *told: None)
        assert [tree for tree, _ in given] == one_process(MG, documents)


def test_processes_that_die_before_they_are_ready_end_the_run() -> None:
    chunker = processes()
    killer = threading.Timer(0.1, kill_all)
    killer.start()
    ended = r"a process on the CPU was ended by signal 9 before its models were loaded"
    with pytest.raises(LgmgcError, match=ended), chunker:
        pytest.fail("they were loaded")
    killer.join()
    assert no_process_is_left()


def test_an_error_of_the_reader_ends_the_processes() -> None:
    def source() -> Iterator[Document]:
        yield LONG
        raise LgmgcError("too many failures")

    with pytest.raises(LgmgcError, match="too many failures"), processes() as chunker:
        list(chunker.cut(source(), lambda *told: None, lambda *told: None))
    assert no_process_is_left()


def test_a_defect_in_a_process_comes_with_its_traceback() -> None:
    settings = Settings(method="mg")
    object.__setattr__(settings, "theta", "twenty")
    with pytest.raises(RuntimeError, match=r"(?s)Traceback .*TypeError"), processes(settings):
        pytest.fail("it was loaded")
    assert no_process_is_left()
