"""`lgmgc index`: documents into a file that can be searched."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from lgmgc.chunkers.chunker import Settings
from lgmgc.cli.chunking import Chunking, with_chunking
from lgmgc.cli.finding import load_embedder_of, with_embedder_of
from lgmgc.cli.indexing import Chunks, Given, Paths
from lgmgc.cli.messages import say, tell
from lgmgc.cli.reading import PATHS, with_reading
from lgmgc.errors import UsageError
from lgmgc.files import reader
from lgmgc.files.documents import Reading
from lgmgc.retrieval.configuration import configuration_of
from lgmgc.retrieval.index import Index


@with_chunking
@with_reading
def index(
    db: Annotated[
        Path,
        typer.Option(
            metavar="FILE.db", help="The index; made if it is not there.", show_default=False
        ),
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help=PATHS,
            show_default=False,
        ),
    ] = None,
    chunks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Chunks that `lgmgc chunk --out` wrote, in place of PATHs.",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove documents that are not among these, by their names."),
    ] = False,
    lexical_only: Annotated[
        bool, typer.Option("--lexical-only", help="No vectors: it is searched by words only.")
    ] = False,
    vectors: Annotated[
        Literal["float32", "int8"],
        typer.Option(help="How a new index keeps vectors; int8 takes a quarter of the room."),
    ] = "float32",
    *,
    chunking: Chunking,
    reading: Reading,
) -> None:
    """Chunk documents and make them searchable, in one file that only you can read.

    A document whose text, options and models are as they were is skipped, a changed one is
    replaced; so a run that was interrupted goes on when it is started again. A document that cannot
    be read is reported, the others go on, and the exit status is 1.

    Example: lgmgc index docs/ notes.txt --db notes.db --theta 200
    """
    # Everything that can be wrong is looked at before a model is loaded, which takes longest.
    started = time.monotonic()
    settings, choice = chunking
    if chunks is not None and (paths or settings != Settings() or reading != Reading()):
        raise UsageError(
            "--chunks brings texts that are cut already; leave out PATHs and the options of "
            "chunking and reading"
        )
    if chunks is None and not paths:
        raise UsageError("nothing to index; give a PATH, or --chunks FILE.jsonl")
    sources = reader.find(paths or ())
    choice = with_embedder_of(_made(db, lexical_only), choice)
    given: Given | None = Chunks(chunks) if chunks is not None else None

    embedder = None
    if not lexical_only or (given is None and "embedder" in settings.plan.needs):
        embedder = load_embedder_of(choice)
    if given is None:
        identity = embedder.identity if embedder else None
        configuration = configuration_of(settings, choice, identity)
        given = Paths(sources, reading, settings, choice, configuration, embedder)
    vectors_of = None if lexical_only else embedder
    with Index.open(db, vectors_of, create=True, vectors=vectors) as store:
        record = given.into(store)
        pruned = store.prune(given.names) if prune and given.named else 0
    if prune and not given.named:
        say("nothing was pruned, for the ids of some documents that cannot be read are not known")
    pooled = vectors_of.counters.pooled if vectors_of else 0
    tell(
        f"{len(given.names):,} document{'s' * (len(given.names) != 1)}: {record.added:,} added, "
        f"{record.replaced:,} replaced, {record.skipped:,} skipped, {pruned:,} pruned, "
        f"{record.failed:,} failed; {record.pieces:,} pieces, {pooled:,} pooled texts, "
        f"{time.monotonic() - started:,.1f} s",
    )
    if record.failed:
        raise typer.Exit(1)


def _made(db: Path, lexical_only: bool) -> Index | None:
    """What there is under the name already; closed, to be asked what it was made with."""
    try:
        with Index.open(db) as store:
            made = store
    except UsageError:  # not there, or opening it to write will say what is wrong
        return None
    name = made.embedder_name
    if lexical_only and name is not None:
        raise UsageError(
            f"{db}: was made with the embedder {name}; leave out --lexical-only, or index into "
            "another file"
        )
    if not lexical_only and name is None:
        raise UsageError(
            f"{db}: was made with --lexical-only; give it again, or index into another file"
        )
    return made
