"""One of the workers of `lgmgc chunk --ray`: a shard's sources in, its file out, and a record."""

from __future__ import annotations

import json
import pickle
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from lgmgc.chunkers.processes import ChunkerProcesses
from lgmgc.cli.chunk_documents import Run
from lgmgc.cli.chunking import Chunking
from lgmgc.cli.progress import Watch
from lgmgc.document import Document, Tree
from lgmgc.errors import LgmgcError
from lgmgc.files import output
from lgmgc.files.documents import Reading
from lgmgc.files.manifest import entry, versions
from lgmgc.files.rows import metadata_json, rows
from lgmgc.files.source import Source
from lgmgc.files.whole_file import WholeFile, remove_left
from lgmgc.integrations.ray_cluster import Pool, Worker


class Record(TypedDict):
    """What a worker says of a shard that it wrote.

    Attributes:
        sha256: of the file.
        documents: what the manifest has of each.
        failed: what the manifest has of each that failed.
        empty: documents without text.
        counts: what all took; see `lgmgc.chunkers.cutter.tally`.
        made: with which models and versions; the same on every machine, or it is not one output.
    """

    sha256: str
    documents: list[dict[str, object]]
    failed: list[dict[str, str]]
    empty: int
    counts: dict[str, int]
    made: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What all shards of a run have in common; its paths hold on every machine.

    Attributes:
        chunking: how to cut.
        reading: how to read.
        to: where shards go.
        save_text: the folder that extracted texts go to.
        pool: of workers.
    """

    chunking: Chunking
    reading: Reading
    to: output.Place
    save_text: Path | None
    pool: Pool


class ShardWriter(Worker):
    """Writes one shard after another."""

    def __init__(self, job: Job) -> None:
        """Prepare; models are loaded at the first shard."""
        super().__init__(*job.chunking, job.pool)
        self._job = job

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """Write a shard.

        Args:
            row: of `row`.

        Returns:
            The shard's ``name``, the ``record`` in JSON, ``begun`` (seconds of the clock), and
            ``error``, a pickled LgmgcError that ends the run, or empty.
        """
        record, error = "", b""
        begun = time.time()
        try:
            cutter = self.cutter()
            begun = time.time()
            record = json.dumps(self._write(row["name"], pickle.loads(row["sources"]), cutter))
        except LgmgcError as raised:  # Ray would bury it under its own
            error = pickle.dumps(raised)
        return {"name": row["name"], "record": record, "begun": begun, "error": error}

    def _write(self, name: str, sources: Sequence[Source], cutter: ChunkerProcesses) -> Record:
        to = self._job.to
        shard = _Shard()
        watch = Watch(0, 0, rows_on_terminal=True)
        run = Run(sources, self._job.reading, watch, self._job.save_text)
        remove_left(to.path / name)
        with WholeFile(to.path / name) as file:
            to.shape.write(shard.rows(run, cutter), file)
            if shard.documents:
                file.commit()
            sha256 = file.sha256
        made = {**cutter.identity, "batch_tokens": cutter.batch_tokens}
        return Record(
            sha256=sha256,
            documents=shard.documents,
            failed=shard.failed,
            empty=run.empty,
            counts=dict(shard.counts),
            made={"models": made, "versions": versions(*to.libraries)},
        )


def row(name: str, sources: Sequence[Source]) -> dict[str, Any]:
    """What a worker is given of a shard; pickled, for Arrow takes no name that is not UTF-8."""
    return {"name": name, "sources": pickle.dumps(sources)}


class _Shard:
    """What becomes of a shard's documents; a `lgmgc.cli.chunk_documents.Kept`."""

    def __init__(self) -> None:
        self.documents: list[dict[str, object]] = []
        self.failed: list[dict[str, str]] = []
        self.counts: Counter[str] = Counter()

    def rows(self, run: Run, cutter: ChunkerProcesses) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Cut, and give the rows of each document."""
        for position, tree, taken in run.trees(self, cutter):
            self.add(position, tree, taken)
            yield tree.document.id, rows(tree)

    def has(self, position: int, document: Document) -> bool:
        metadata_json(document)
        return False

    def add(self, position: int, tree: Tree, counts: Counter[str]) -> None:
        self.documents.append(entry(tree))
        self.counts.update(counts)

    def fail(self, position: int, id: str, message: str) -> None:
        self.failed.append({"id": id, "message": message})

    def settled(self, end: int) -> None:
        pass
