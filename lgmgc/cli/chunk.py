"""`lgmgc chunk`: files in, chunks out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lgmgc.cli.chunking import PATHS, Chunking, Encoding, Errors, with_chunking
from lgmgc.cli.messages import one_line
from lgmgc.cli.progress import Watch
from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.files import reader
from lgmgc.files.documents import Failure, Reading, documents
from lgmgc.files.manifest import Record, beside, manifest
from lgmgc.files.writer import Output, StandardOutput, WholeFile, rows

if TYPE_CHECKING:  # imported when a run needs them, so that --help comes at once
    from lgmgc.chunkers.chunker import Chunker
    from lgmgc.chunkers.load import LoadedModels


@with_chunking
def chunk(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help=PATHS,
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Where the chunks go, with a manifest beside; left out: standard output.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    errors: Errors = "strict",
    *,
    chunking: Chunking,
) -> None:
    """Cut documents into parents and children, one JSON object a chunk.

    A document that cannot be read is reported, the others go on, and the exit status is 1.

    Example: lgmgc chunk docs/ notes.txt --out chunks.jsonl --theta 200
    """
    from lgmgc.chunkers.load import load_models

    # Everything that can be wrong is looked at before a model is loaded, which takes longest.
    settings, choice = chunking
    reader.check_encoding(encoding)
    sources = reader.find(paths)
    with ExitStack() as stack:
        files = _files(out, sources, stack)
        terminal = out is None and sys.stdout is not None and sys.stdout.isatty()
        watch = Watch(
            len(sources), sum(source.size for source in sources), rows_on_terminal=terminal
        )

        started = time.monotonic()
        with watch.loading() if settings.plan.needs or settings.unit == "tokens" else nullcontext():
            models = load_models(settings, choice)
        loaded = models.loaded
        # Now, so that weights that cannot be read do not come to light after hours of work.
        weights_sha256 = loaded.weights_sha256() if loaded and files else None
        chunker = models.chunker(settings)

        record = Record()
        begun = time.monotonic()
        with watch:
            documents = _documents(sources, encoding, errors, record, watch)
            _chunk(documents, chunker, files[0] if files else StandardOutput(), record, watch)
        ended = time.monotonic()

        if files and len(record.failed) < len(sources):
            output, beside_it = files
            output.finish()
            content = manifest(
                configuration={
                    **settings.configuration,
                    "prompt": choice.prompt,
                    "template": choice.template,
                    "encoding": encoding,
                    "errors": errors,
                    "batch_tokens": models.batch_tokens,
                },
                record=record,
                counts=chunker.counts,
                models=models,
                weights_sha256=weights_sha256,
                seconds={"loading": begun - started, "chunking": ended - begun},
                output=output.path.name,
                sha256=output.sha256,
            )
            beside_it.write(content)
            # First, so that an output never stands there without its manifest.
            beside_it.commit()
            output.commit()
    typer.echo(_summary(record, chunker, models, ended - begun), err=True)
    if record.failed:
        raise typer.Exit(1)


def _files(
    out: Path | None, sources: Sequence[reader.Source], stack: ExitStack
) -> tuple[WholeFile, WholeFile] | None:
    """The output and its manifest, neither of which may be one of the documents."""
    if out is None:
        return None
    if not out.name:
        raise UsageError(f"--out {str(out)!r} names no file; give one such as chunks.jsonl")
    documents = {_identity(source.path) for source in sources if source.path} - {None}
    for path in (out, beside(out)):
        if _identity(path) in documents:
            raise UsageError(f"{path}: is one of the documents; choose another name for --out")
    return stack.enter_context(WholeFile(out)), stack.enter_context(WholeFile(beside(out)))


def _identity(path: Path) -> tuple[int, int] | None:
    """What two names of one file have in common; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _documents(
    sources: Sequence[reader.Source], encoding: str, errors: str, record: Record, watch: Watch
) -> Iterator[Document]:
    """Read one document after another, as they are asked for; tell of those that fail."""
    reading = Reading(encoding, errors)
    for source in sources:
        for found in documents(source, reading):
            if isinstance(found, Failure):
                record.fail(found.id, found.message)
                watch.failed(found.message, found.size)
            else:
                watch.opened(found.document, found.size)
                yield found.document


def _chunk(
    documents: Iterator[Document], chunker: Chunker, output: Output, record: Record, watch: Watch
) -> None:
    def failed(document: Document, error: DocumentError) -> None:
        record.fail(document.id, str(error))
        watch.failed(str(error), 0)

    for tree in chunker.chunk_many(documents, watch.advanced, failed):
        for row in rows(tree):
            output.write(row)
        output.flush()
        record.add(tree)
        watch.finished(tree.document)


def _summary(record: Record, chunker: Chunker, models: LoadedModels, seconds: float) -> str:
    counts = chunker.counts
    named = len(record.documents) + len(record.failed)
    asked = f"{models.tokens_read:,} model tokens, "
    if counts.retries or counts.fallbacks:
        asked += f"{counts.retries:,} retries, {counts.fallbacks:,} fallbacks, "
    return one_line(
        f"{named:,} document{'s' * (named != 1)} ({record.empty:,} empty, "
        f"{len(record.failed):,} failed): {counts.parents:,} parents, {counts.chunks:,} chunks, "
        f"{counts.words:,} words; {asked}{seconds:,.1f} s, "
        f"{counts.words / max(seconds, 1e-9):,.0f} words/s"
    )
