"""A run of `lgmgc chunk`: models loaded, documents cut, all summed up."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING

from lgmgc.cli.chunk_documents import Journaled, Printed, Run
from lgmgc.cli.chunking import Chunking
from lgmgc.cli.messages import detail, say, tell
from lgmgc.cli.progress import Watch
from lgmgc.files import output
from lgmgc.files.documents import Reading
from lgmgc.files.journal import Journal
from lgmgc.files.manifest import manifest, versions
from lgmgc.files.shape import Shape
from lgmgc.lm.store import sha256_of

if TYPE_CHECKING:  # imported when a run needs them, so that --help comes at once
    from lgmgc.chunkers.cutter import Cutter
    from lgmgc.chunkers.devices import Place


def print_chunks(
    run: Run, shape: Shape, chunking: Chunking, devices: Sequence[Place] | None
) -> None:
    """Write rows on standard output as they come.

    Args:
        run: what to read.
        shape: of the rows.
        chunking: how to cut.
        devices: a process each; None for this one.
    """
    with _loaded(chunking, devices, run.watch) as cutter:
        begun = time.monotonic()
        run.go(Printed(shape), cutter)
    tell(summary(run, cutter.total, cutter.total, time.monotonic() - begun))


def write_chunks(
    run: Run,
    to: output.Place,
    journal: Journal,
    files: output.Output,
    chunking: Chunking,
    devices: Sequence[Place] | None,
) -> None:
    """Write files and their manifest, from where an earlier run was.

    Args:
        run: what to read.
        to: where they go.
        journal: what an earlier run did.
        files: puts them together.
        chunking: how to cut.
        devices: a process each; None for this one.

    Raises:
        UsageError: the earlier run was begun otherwise, or the disk is full or fails.
    """
    started = time.monotonic()
    configuration, libraries = begin(to, journal, chunking, run.reading)
    with _loaded(chunking, devices, run.watch) as cutter:
        # Now, so that weights that cannot be read do not come to light after hours of work.
        asked = cutter.identity
        journal.require("models", {**asked, "batch_tokens": cutter.batch_tokens})

        begun = time.monotonic()
        run.go(Journaled(journal, files), cutter)
        ended = time.monotonic()

    counts = journal.counts()
    finish(
        run,
        files,
        made={"versions": libraries, **asked},
        configuration=configuration,
        batch_tokens=cutter.batch_tokens,
        counts=counts,
        seconds={"loading": begun - started, "chunking": ended - begun},
        documents=journal.entries(),
        failed=journal.failures(),
    )
    tell(summary(run, counts, cutter.total, ended - begun))


def begin(
    to: output.Place, journal: Journal, chunking: Chunking, reading: Reading
) -> tuple[dict[str, object], dict[str, str]]:
    """Go on where an earlier run was, if it was begun with the same.

    Returns:
        Configuration and versions, as the manifest has them.

    Raises:
        UsageError: it was begun otherwise.
    """
    configuration = _configuration(chunking, reading)
    libraries = versions(*to.libraries)
    journal.require("configuration", configuration)
    journal.require("versions", libraries)
    journal.require("output", to.decides)
    if journal.resumed:
        tell(f"{to.out}: {_documents(journal.resumed)} done before; --fresh would start again")
    return configuration, libraries


def finish(
    run: Run,
    files: output.Output,
    *,
    made: Mapping[str, object],
    configuration: Mapping[str, object],
    batch_tokens: int,
    counts: Mapping[str, int],
    seconds: Mapping[str, float],
    documents: Iterable[Mapping[str, object]],
    failed: Iterable[Mapping[str, object]],
) -> None:
    """Write what is left and the manifest, unless all documents failed; see `manifest`."""
    if run.failed == run.named and run.failed:
        return
    files.finish(
        lambda written: manifest(
            made={
                "configuration": {**configuration, "batch_tokens": batch_tokens},
                **made,
            },
            output=written,
            counts={
                "documents": run.named - run.failed,
                "empty_documents": run.empty,
                "failed_documents": run.failed,
                **counts,
            },
            seconds=seconds,
            documents=documents,
            failed=failed,
        )
    )


@contextmanager
def stoppable(out: str, journal: Journal) -> Iterator[None]:
    """Say how to go on when the user, or the system, ends the run."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        done = _documents(journal.done)
        say(f"{out}: stopped with {done} done; give the same command again to go on")
        raise


def _configuration(chunking: Chunking, reading: Reading) -> dict[str, object]:
    """What decides rows, apart from documents and models."""
    settings, choice = chunking
    boundaries = settings.options.boundaries
    return {
        **settings.configuration,
        **({"boundaries_sha256": sha256_of(boundaries)} if boundaries else {}),
        "prompt": choice.prompt,
        "template": choice.template,
        **asdict(reading),
    }


@contextmanager
def _loaded(chunking: Chunking, devices: Sequence[Place] | None, watch: Watch) -> Iterator[Cutter]:
    """Load the models, here or in processes that end with the block."""
    from lgmgc.chunkers.cutter import OneProcess
    from lgmgc.chunkers.load import load_models
    from lgmgc.chunkers.processes import ChunkerProcesses

    settings, choice = chunking
    with ExitStack() as stack:
        with watch.loading() if settings.plan.needs or settings.unit == "tokens" else nullcontext():
            cutter: Cutter = (
                OneProcess(load_models(settings, choice), settings)
                if devices is None
                else stack.enter_context(ChunkerProcesses(settings, choice, devices))
            )
        detail(f"models: {cutter.description or 'none'}")
        yield cutter


def summary(run: Run, whole: Mapping[str, int], now: Mapping[str, int], seconds: float) -> str:
    """Sum up.

    Args:
        run: that ended.
        whole: what the output took.
        now: what it took in this run.
        seconds: of this run.
    """
    asked = f"{now['tokens_read']:,} model tokens, "
    if now["retries"] or now["fallbacks"]:
        asked += f"{now['retries']:,} retries, {now['fallbacks']:,} fallbacks, "
    before = f", {run.found:,} done before" if run.found else ""
    return (
        f"{_documents(run.named)} ({run.empty:,} empty, {run.failed:,} failed{before}): "
        f"{whole['parents']:,} parents, {whole['chunks']:,} chunks, {whole['words']:,} words; "
        f"{asked}{seconds:,.1f} s, {now['words'] / max(seconds, 1e-9):,.0f} words/s"
    )


def _documents(count: int) -> str:
    return f"{count:,} document{'s' * (count != 1)}"
