"""Law 7: killed at any moment, run again, the same rows; and readers see whole documents."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lgmgc.document import Tree
from lgmgc.retrieval import Index

from .fake import Bag, dump, paragraphs

ROOT = Path(__file__).parents[2]

INDEXING = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from lgmgc.document import Chunk
from lgmgc.retrieval import Index
from tests.retrieval.fake import Bag, paragraphs
from tests.retrieval.test_crash import corpus

path, moment = Path(sys.argv[1]), sys.argv[2]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(Bag):
    def passages(self, texts):
        if moment == "embedding" and len(self.calls) == 2:
            die()
        return super().passages(texts)

class Deadly(Chunk):
    asked = 0

    @property
    def text(self):
        # Asked for once to be embedded, and again in the midst of the transaction.
        Deadly.asked += 1
        if Deadly.asked == 2:
            die()
        return self.document.text[self.start:self.end]

def trees():
    for k, tree in enumerate(corpus()):
        if moment == "reading" and k == 40:
            die()
        if moment == "writing" and k == 45:
            last = tree.parents[-1]
            deadly = Deadly(last.document, last.id, 0, last.start, last.end, 1)
            tree = replace(tree, parents=(*tree.parents[:-1], deadly))
        yield tree

seen = []

def progress(document):
    seen.append(document.id)
    if moment == "between" and len(seen) == 30:
        die()

with Index.open(path, Dying(), create=True) as index:
    if moment == "making":
        die()
    index.add(trees(), "c", progress)
"""

READING = """
import sys
from pathlib import Path
from lgmgc.retrieval import Index
from tests.retrieval.fake import Bag

with Index.open(Path(sys.argv[1]), Bag()) as index:
    print("ready", flush=True)
    seen = set()
    while "last" not in seen:
        for mode in ("dense", "lexical", "hybrid"):
            hits = index.search("boat", 20, mode=mode)
            kinds = {hit.parent.text.split()[1] for hit in hits if hit.document == "d"}
            assert len(kinds) == 1, kinds
            assert sum(hit.document == "d" for hit in hits) == 8, hits
            seen |= kinds
    assert len(seen) > 1, seen
"""


def corpus() -> list[Tree]:
    """60 documents of about 100 pieces."""
    return [paragraphs(f"d{k:02}", *(f"sea {j} boat {k}" for j in range(34))) for k in range(60)]


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    path = tmp_path_factory.mktemp("undisturbed") / "index.db"
    with Index.open(path, Bag(), create=True) as index:
        index.add(corpus(), "c")
    return dump(path)


@pytest.mark.parametrize("moment", ["making", "reading", "embedding", "between", "writing"])
def test_killed_and_run_again(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]], moment: str
) -> None:
    path = tmp_path / "index.db"
    assert start(INDEXING, path, moment).wait(60) == -signal.SIGKILL
    with Index.open(path) as index:
        left = index.counts()
    assert left.documents < 60
    assert left.pieces == 34 * 3 * left.documents  # whole documents
    assert (left.documents > 0) == (moment != "making")
    assert start(INDEXING, path, "").wait(60) == 0
    assert dump(path) == undisturbed


def test_killed_at_many_moments(
    tmp_path: Path, undisturbed: dict[str, list[tuple[object, ...]]]
) -> None:
    path = tmp_path / "index.db"
    for delay in (0.0, 0.01, 0.03, 0.05, 0.08):
        process = start(INDEXING, path, "")
        while not path.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        process.kill()
        process.wait(60)
    assert start(INDEXING, path, "").wait(60) == 0
    assert dump(path) == undisturbed


def test_two_readers_during_writes(tmp_path: Path) -> None:
    path = tmp_path / "index.db"

    def version(kind: str) -> None:
        index.add([paragraphs("d", *[f"boat {kind}"] * 8)])

    with Index.open(path, Bag(), create=True) as index:
        version("first")
        readers = [start(READING, path) for _ in range(2)]
        try:
            for reader in readers:
                assert reader.stdout is not None
                assert reader.stdout.readline() == "ready\n"
            for k in range(200):
                version("odd" if k % 2 else "even")
            version("last")
            assert [reader.wait(60) for reader in readers] == [0, 0]
        finally:
            for reader in readers:
                reader.kill()
                reader.communicate()
