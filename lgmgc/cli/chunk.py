"""`lgmgc chunk`: files in, chunks out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lgmgc.cli.messages import one_line
from lgmgc.cli.models import Cache
from lgmgc.cli.progress import Watch
from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.files import reader
from lgmgc.files.manifest import Record, beside, manifest
from lgmgc.files.writer import Output, StandardOutput, WholeFile, rows

if TYPE_CHECKING:  # imported when a run needs them, so that --help comes at once
    from lgmgc.chunkers.chunker import Chunker
    from lgmgc.lm.load import LoadedModel


def chunk(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files, folders (their .txt and .md files), or - for standard input.",
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
    theta: Annotated[int, typer.Option(help="θ, the most that a parent holds.")] = 300,
    unit: Annotated[
        Literal["words", "tokens", "characters"], typer.Option(help="What θ counts.")
    ] = "words",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR|FILE.gguf",
            help="Left out: the environment's LGMGC_MODEL, else the catalogue's default.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        Literal["lgmgc", "lg", "mg"],
        typer.Option(help="lgmgc: both of the others; lg: parents only; mg: no model."),
    ] = "lgmgc",
    prompt: Annotated[
        str,
        typer.Option(
            metavar="TEXT|@FILE",
            help="ρ, what the model reads before the text.",
            show_default=False,
        ),
    ] = "",
    template: Annotated[
        Literal["raw", "chat"],
        typer.Option(help="raw: ρ, then the text; chat: the text is the assistant's turn."),
    ] = "raw",
    eos: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A token that ends a text; may be repeated. Left out: the model's own.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        Literal["auto", "cuda", "cpu"], typer.Option(help="Where the model runs.")
    ] = "auto",
    precision: Annotated[
        Literal["auto", "int8", "int4", "bf16", "fp32"],
        typer.Option(help="How the model's weights are held."),
    ] = "auto",
    language: Annotated[
        str,
        typer.Option(metavar="CODE", help="For finding sentences, such as en or de; auto: guess."),
    ] = "auto",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens that the model reads at once. Left out: chosen.", show_default=False
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the files.")] = "utf-8",
    errors: Annotated[
        Literal["strict", "replace"],
        typer.Option(help="What to do with bytes that are not valid in the encoding."),
    ] = "strict",
    cache: Cache = None,
) -> None:
    """Cut documents into parents and children, one JSON object a chunk.

    A document that cannot be read is reported, the others go on, and the exit status is 1.

    Example: lgmgc chunk docs/ notes.txt --out chunks.jsonl --theta 200
    """
    from lgmgc.chunkers.chunker import METHODS, Chunker, Settings

    # Everything that can be wrong is looked at before the model is loaded, which takes longest.
    settings = Settings(method=method, theta=theta, unit=unit, language=language)
    reader.check_encoding(encoding)
    prompt_text = _prompt(prompt)
    sources = reader.find(paths)
    with ExitStack() as stack:
        files = _files(out, sources, stack)
        terminal = out is None and sys.stdout is not None and sys.stdout.isatty()
        watch = Watch(
            len(sources), sum(source.size for source in sources), rows_on_terminal=terminal
        )

        started = time.monotonic()
        loaded: LoadedModel | None = None
        if METHODS[method].scored or unit == "tokens":
            from lgmgc.lm.load import load_scorer

            with watch.loading():
                loaded = load_scorer(
                    model,
                    cache=cache,
                    prompt=prompt_text,
                    template=template,
                    eos=eos or (),
                    device=device,
                    precision=precision,
                )
        # Now, so that weights that cannot be read do not come to light after hours of work.
        weights_sha256 = loaded.weights_sha256() if loaded and files else None
        budget = batch_tokens or (loaded.batch_tokens if loaded else 1)
        chunker = Chunker(settings, loaded.scorer if loaded else None, budget)

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
                    **asdict(settings),
                    "prompt": prompt_text,
                    "template": template,
                    "encoding": encoding,
                    "errors": errors,
                    "batch_tokens": budget,
                },
                record=record,
                counts=chunker.counts,
                loaded=loaded,
                weights_sha256=weights_sha256,
                seconds={"loading": begun - started, "chunking": ended - begun},
                output=output.path.name,
                sha256=output.sha256,
            )
            beside_it.write(content)
            # First, so that an output never stands there without its manifest.
            beside_it.commit()
            output.commit()
    typer.echo(_summary(record, chunker, loaded, ended - begun), err=True)
    if record.failed:
        raise typer.Exit(1)


def _prompt(given: str) -> str:
    """ρ itself, or what the file behind an @ holds, to the last character."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"--prompt {given}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--prompt {given}: is not UTF-8 (byte 0x{error.object[error.start]:02X} at offset "
            f"{error.start}); save the prompt as UTF-8"
        ) from None


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
    for source in sources:
        try:
            document = reader.read(source, encoding, errors)
        except DocumentError as error:
            record.fail(source.id, str(error))
            watch.failed(str(error), source.size)
        else:
            watch.opened(document, source.size)
            yield document


def _chunk(
    documents: Iterator[Document], chunker: Chunker, output: Output, record: Record, watch: Watch
) -> None:
    for tree in chunker.chunk_many(documents, watch.advanced):
        for row in rows(tree):
            output.write(row)
        output.flush()
        record.add(tree)
        watch.finished(tree.document)


def _summary(record: Record, chunker: Chunker, loaded: LoadedModel | None, seconds: float) -> str:
    counts = chunker.counts
    tokens = loaded.scorer.counters.tokens if loaded else 0
    named = len(record.documents) + len(record.failed)
    return one_line(
        f"{named:,} document{'s' * (named != 1)} ({record.empty:,} empty, "
        f"{len(record.failed):,} failed): {counts.parents:,} parents, {counts.chunks:,} chunks, "
        f"{counts.words:,} words; {tokens:,} model tokens, {seconds:,.1f} s, "
        f"{counts.words / max(seconds, 1e-9):,.0f} words/s"
    )
