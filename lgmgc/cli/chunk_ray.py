"""`lgmgc chunk --ray`: the machines of a cluster write an output's shards."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lgmgc.cli.chunk_documents import Run
from lgmgc.cli.chunk_run import begin, finish, summary
from lgmgc.cli.chunking import Chunking
from lgmgc.cli.messages import tell
from lgmgc.cli.ray_worker import Job, Record, ShardWriter, row
from lgmgc.errors import LgmgcError, UsageError
from lgmgc.files import output
from lgmgc.files.journal import Journal, Shard, differences
from lgmgc.files.shape import Format, Only
from lgmgc.files.source import Source
from lgmgc.integrations.ray_cluster import answers, joined, pool


def place(
    out: str | None,
    sources: Sequence[Source],
    format: Format | None,
    only: Only | None,
    *,
    nest: bool,
    shard: int | None,
) -> output.Place:
    """See `lgmgc.files.output.place`; shards are Parquet where nothing else is said.

    Raises:
        UsageError: machines of a cluster cannot read these or write there.
    """
    if out is None or (format is None and shard is None and output.place(out).shard is None):
        raise UsageError("--ray writes a folder of shards; name one with --out DIR/")
    if any(each.path is None for each in sources):
        raise UsageError("--ray: no other machine can read standard input; give a file")
    format = format or ("jsonl" if nest else "parquet")
    to = output.place(out, format, only, nest=nest, shard=shard or output.SHARD_SOURCES)
    return replace(to, of_sources=True)


def write_shards(
    run: Run,
    to: output.Place,
    journal: Journal,
    files: output.Output,
    chunking: Chunking,
    address: str,
    devices: str | None,
) -> None:
    """Write the shards that an earlier run has not, and the manifest.

    Args:
        run: what to read; it learns what became of it.
        to: where shards go, a folder that all machines see.
        journal: what an earlier run did.
        files: puts the folder together.
        chunking: how to cut.
        address: see `lgmgc.integrations.ray_cluster.joined`.
        devices: see `lgmgc.integrations.ray_cluster.pool`.

    Raises:
        UsageError: the earlier run was begun otherwise, there is no such cluster, or a machine of
            it lacks a model or cannot write.
        LgmgcError: more documents failed than may, machines differ, or documents share an id.
    """
    started = begun = ended = time.monotonic()
    configuration, libraries = begin(to, journal, chunking, run.reading)
    shards = _Shards(run, to, journal, libraries)
    now = Counter[str]()
    with run.watch:
        left = [name for name in shards.sources if not shards.find(name, files)]
        if left:
            files.changes()
            with joined(address):
                save_text = run.save_text and run.save_text.absolute()
                job = Job(_absolute(chunking), run.reading, to, save_text, pool(devices))
                rows = [row(name, shards.sources[name]) for name in left]
                begun, clock, loading = time.monotonic(), time.time(), float("inf")
                for answer in answers(rows, ShardWriter, job, job.pool):
                    if answer["error"]:
                        raise pickle.loads(answer["error"])
                    record: Record = json.loads(answer["record"])
                    now.update(record["counts"])
                    shards.add(answer["name"], record)
                    loading = min(loading, answer["begun"] - clock)
                ended = time.monotonic()  # before the cluster is left, which takes seconds
                begun = min(ended, begun + max(0.0, loading))

    shards.check_ids()
    for name, record in shards.records():
        if record["documents"]:
            files.wrote(name, record["sha256"], len(record["documents"]))
    finish(
        run,
        files,
        made={"versions": libraries, **shards.identity},
        configuration=configuration,
        batch_tokens=shards.batch_tokens,
        counts=shards.counts,
        seconds={"loading": begun - started, "chunking": ended - begun},
        documents=(each for _, record in shards.records() for each in record["documents"]),
        failed=(each for _, record in shards.records() for each in record["failed"]),
    )
    tell(summary(run, shards.counts, now, ended - begun))


class _Shards:
    """The shards of an output, in their order, and what is known of them.

    Attributes:
        sources: of each, by the name of its file.
        counts: what all took.
        identity: of the models.
        batch_tokens: token places of a batch.
    """

    def __init__(
        self, run: Run, to: output.Place, journal: Journal, versions: dict[str, str]
    ) -> None:
        """Divide the sources."""
        assert to.shard
        self.sources: dict[str, Sequence[Source]] = {
            to.shard_name(number): [_on_all(each) for each in run.sources[first : first + to.shard]]
            for number, first in enumerate(range(0, len(run.sources), to.shard))
        }
        self._contents = {name: _content(sources) for name, sources in self.sources.items()}
        self.counts: Counter[str] = Counter()
        self._run = run
        self._out = to.out
        self._journal = journal
        self._made: dict[str, Any] = {"versions": versions}

    @property
    def identity(self) -> dict[str, Any]:
        """Which models were asked."""
        models = self._made["models"].items()
        return {name: value for name, value in models if name != "batch_tokens"}

    @property
    def batch_tokens(self) -> int:
        """Token places of a batch."""
        return cast(int, self._made["models"]["batch_tokens"])

    def find(self, name: str, files: output.Output) -> bool:
        """Look for a shard that an earlier run wrote, of the same sources; failures go again."""
        shard = self._journal.shard(name)
        if shard is None or not files.has(name, shard, self._contents[name]):
            return False
        record = cast(Record, shard.record)
        if record["failed"]:
            return False
        self._run.found += len(record["documents"])
        self._count(name, record)
        return True

    def add(self, name: str, record: Record) -> None:
        """Take a shard that was written.

        Raises:
            UsageError: an earlier run asked other models.
            LgmgcError: other machines did, or more documents failed than may.
        """
        self._count(name, record)
        self._journal.require("models", record["made"]["models"])
        self._journal.note_shard(name, Shard(self._contents[name], record["sha256"], record))
        for failure in record["failed"]:
            self._run.failed += 1
            self._run.watch.failed(failure["message"], 0)
            self._run.check_failures()

    def records(self) -> Iterator[tuple[str, Record]]:
        """What is known of each."""
        for name in self.sources:
            shard = self._journal.shard(name)
            assert shard
            yield name, cast(Record, shard.record)

    def check_ids(self) -> None:
        """See that no two documents share an id, which only one that looks at all shards can.

        Raises:
            LgmgcError: they do.
        """
        seen: set[object] = set()
        for name, record in self.records():
            for each in record["documents"]:
                if each["id"] in seen:
                    raise LgmgcError(
                        f"{self._out}: a document in {name} has the id {each['id']!r} of one "
                        "before it; give it its own, and give the same command again"
                    )
                seen.add(each["id"])

    def _count(self, name: str, record: Record) -> None:
        expected = {"models": record["made"]["models"], **self._made}
        if changed := "; ".join(differences(expected, record["made"])):
            raise LgmgcError(
                f"{self._out}: the machines of the cluster are not alike ({changed}); install the "
                "same on each, and give the same command again"
            )
        self._made = expected
        documents, run = record["documents"], self._run
        run.named += len(documents) + len(record["failed"])
        run.empty += record["empty"]
        self.counts.update(record["counts"])
        words = sum(cast(int, each["words"]) for each in documents)
        run.watch.shard(len(documents), words, sum(each.size for each in self.sources[name]))


def _content(sources: Sequence[Source]) -> str:
    """Which sources these are, and as of when."""
    told = []
    for each in sources:
        assert each.path
        changed = each.path.stat().st_mtime_ns if each.path.exists() else 0
        told.append((each.id, str(each.path), each.size, changed))
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _on_all(source: Source) -> Source:
    """With a path that does not depend on where the command was given."""
    return replace(source, path=source.path and source.path.absolute())


def _absolute(chunking: Chunking) -> Chunking:
    """The same for what the options name, and the environment of this machine."""
    settings, choice = chunking
    boundaries = settings.options.boundaries
    options = replace(settings.options, boundaries=boundaries and boundaries.absolute())
    model, embedder = (
        str(path.absolute()) if name and (path := Path(name).expanduser()).exists() else name
        for name in (
            choice.model or os.environ.get("LGMGC_MODEL"),
            choice.embedder or os.environ.get("LGMGC_EMBEDDER"),
        )
    )
    cache = choice.cache and choice.cache.absolute()
    return Chunking(
        replace(settings, options=options),
        replace(choice, model=model, embedder=embedder, cache=cache),
    )
