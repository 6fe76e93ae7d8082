"""`lgmgc chunk`: files in, chunks out."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import typer

from lgmgc.chunkers.devices import places
from lgmgc.cli.chunk_documents import Run
from lgmgc.cli.chunk_run import print_chunks, stoppable, write_chunks
from lgmgc.cli.chunking import MODELS, Chunking, with_chunking
from lgmgc.cli.progress import Watch
from lgmgc.cli.reading import PATHS, with_reading
from lgmgc.errors import UsageError
from lgmgc.files import output, reader
from lgmgc.files.documents import Reading
from lgmgc.files.shape import Shape
from lgmgc.integrations.common import FrameworkError

OUT = "Output"


@with_reading
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
        str | None,
        typer.Option(
            metavar="FILE|DIR/",
            help="Where the chunks go: FILE.jsonl, FILE.csv or FILE.parquet, or a folder of "
            "several files, with a manifest; left out: standard output.",
            show_default=False,
            rich_help_panel=OUT,
        ),
    ] = None,
    format: Annotated[
        Literal["jsonl", "parquet", "csv"] | None,
        typer.Option(
            help="Of the files in a folder; jsonl if left out.",
            show_default=False,
            rich_help_panel=OUT,
        ),
    ] = None,
    shard_documents: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Documents of each file in a folder; {output.SHARD} if left out. With --ray: "
            f"sources, {output.SHARD_SOURCES} if left out.",
            show_default=False,
            rich_help_panel=OUT,
        ),
    ] = None,
    only: Annotated[
        Literal["parents", "children"] | None,
        typer.Option(help="Leave out the others.", show_default=False, rich_help_panel=OUT),
    ] = None,
    nest: Annotated[
        bool,
        typer.Option(
            "--nest",
            help="One JSON object a document, children inside their parents.",
            rich_help_panel=OUT,
        ),
    ] = False,
    save_text: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the text of each document, which spans count in, to a file here.",
            show_default=False,
            rich_help_panel=OUT,
        ),
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh", help="Forget what an interrupted run has done.", rich_help_panel=OUT
        ),
    ] = False,
    max_failures: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="End the run when more documents failed.",
            show_default=False,
            rich_help_panel=OUT,
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            metavar="all|0,1|cpu:2",
            help="A process for each of these GPUs, all cutting the same documents; or so many on "
            "the CPU. The output is that of one.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Let a Ray cluster write the shards of a folder: auto, HOST:PORT, or local for "
            "this machine. --devices, all or cpu:8, is then of the whole cluster.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    *,
    chunking: Chunking,
    reading: Reading,
) -> None:
    """Cut documents into parents and children, one row a chunk.

    A run with --out that was interrupted goes on where it was when the same command is given again,
    and writes the same bytes. A document that cannot be read is reported, the others go on, and the
    exit status is 1.

    Example: lgmgc chunk docs/ notes.txt --out chunks.jsonl --theta 200
    """
    # Everything that can be wrong is looked at before a model is loaded, which takes longest.
    sources = reader.find(paths)
    given = {"--format": format, "--shard-documents": shard_documents, "--fresh": fresh or None}
    if out is None:
        if about := [name for name, value in given.items() if value is not None]:
            raise UsageError(f"{about[0]} is about files; give --out, or leave it out")
        shape = Shape("jsonl", only, nest)
    if ray is not None:
        to = _cluster().place(out, sources, format, only, nest=nest, shard=shard_documents)
    elif out is not None:
        to = output.place(out, format, only, nest=nest, shard=shard_documents)
    if out is not None:
        sources = output.apart(sources, to)
    for name, value in {"--devices": devices, "--ray": ray}.items():
        if value is not None and chunking.choice.device != "auto":
            raise UsageError(f"{name} says where the model runs, as --device does; leave one out")
    at = places(devices) if devices is not None and ray is None else None
    terminal = out is None and sys.stdout is not None and sys.stdout.isatty()
    watch = Watch(len(sources), sum(each.size for each in sources), rows_on_terminal=terminal)
    run = Run(sources, reading, watch, save_text, max_failures)
    if out is None:
        print_chunks(run, shape, chunking, at)
    else:
        with output.opened(to, fresh=fresh) as (journal, files), stoppable(out, journal):
            if ray is None:
                write_chunks(run, to, journal, files, chunking, at)
            else:
                _cluster().write_shards(run, to, journal, files, chunking, ray, devices)
    if run.failed:
        raise typer.Exit(1)


def _cluster() -> ModuleType:
    """What needs Ray, which may not be installed."""
    try:
        from lgmgc.cli import chunk_ray
    except ImportError as error:
        raise FrameworkError("Ray", "lgmgc[ray]", error) from error
    return chunk_ray
