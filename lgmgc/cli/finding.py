"""What the commands that search share: their options, and opening an index with its embedder."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer
from rich.console import Console

from lgmgc.chunkers.load import ModelChoice
from lgmgc.cli import messages
from lgmgc.cli.chunking import MODELS
from lgmgc.errors import UsageError
from lgmgc.lm.catalogue import CATALOGUE
from lgmgc.retrieval.hyde import Hyde
from lgmgc.retrieval.index import Index, Mode

if TYPE_CHECKING:  # these import torch
    from lgmgc.lm.embedder import Embedder
    from lgmgc.lm.writer import Writer

K = Annotated[int, typer.Option("-k", metavar="K", help="Parents to find.")]
Wanted = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="dense|lexical|hybrid",
        help="By vectors, by words, or both. Left out: dense where the index has vectors.",
        show_default=False,
    ),
]
WithHyde = Annotated[
    bool,
    typer.Option("--hyde", help="Search with a passage that the model writes (HyDE)."),
]
HydeAverage = Annotated[
    bool,
    typer.Option("--hyde-average", help="Search with the mean of that passage and the question."),
]
LevelBonus = Annotated[
    str,
    typer.Option(
        metavar="0,0.01,0.02",
        help="Added to the similarity of pieces of level 0, 1, 2.",
        show_default=False,
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME|DIR",
        help="What the index was made with. Left out: the environment's LGMGC_EMBEDDER, else "
        "the catalogue's of that name.",
        show_default=False,
        rich_help_panel=MODELS,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|DIR|FILE.gguf",
        help="What writes. Left out: the environment's LGMGC_MODEL, else the catalogue's default.",
        show_default=False,
        rich_help_panel=MODELS,
    ),
]
Device = Annotated[
    Literal["auto", "cuda", "cpu"],
    typer.Option(help="Where the models run.", rich_help_panel=MODELS),
]
Precision = Annotated[
    Literal["auto", "int8", "int4", "bf16", "fp32"],
    typer.Option(help="How the weights of what writes are held.", rich_help_panel=MODELS),
]


@dataclass(frozen=True, slots=True)
class Search:
    """How to search, checked before anything is opened."""

    k: int
    mode: Mode | None
    hyde: bool
    average: bool
    level_bonus: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """An index, the mode that suits it, and its embedder where the mode needs one."""

    index: Index
    mode: Mode
    embedder: Embedder | None


def check_search(k: int, mode: str | None, hyde: bool, average: bool, level_bonus: str) -> Search:
    """Put the options of a search together.

    Raises:
        UsageError: one of them cannot be.
    """
    if k < 1:
        raise UsageError(f"-k is {k}; ask for at least 1 parent")
    if mode is not None and mode not in get_args(Mode):
        raise UsageError(f"--mode {mode!r} is none of {', '.join(get_args(Mode))}")
    if (hyde or average) and mode == "lexical":
        raise UsageError("--hyde searches with a vector; choose --mode dense or hybrid")
    try:
        bonus = tuple(float(part) for part in level_bonus.split(",") if part.strip())
        if not all(-2 <= part <= 2 for part in bonus):  # similarities are from -1 to 1
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--level-bonus {level_bonus!r} is no list of numbers from -2 to 2 such as 0,0.01,0.02"
        ) from None
    return Search(k, cast("Mode | None", mode), hyde or average, average, bonus)


def open_index(path: Path, search: Search, choice: ModelChoice) -> Opened:
    """Open an index to search it, with its embedder where that is needed.

    Raises:
        UsageError: the index is not there or not fit for this search, or is another embedder's.
        ModelError: the embedder is not there.
    """
    index = Index.open(path)
    mode = search.mode or ("lexical" if index.embedder_identity is None else "dense")
    if mode == "lexical" and not search.hyde:
        return Opened(index, mode, None)
    index.close()
    if index.embedder_identity is None:
        raise UsageError(
            f"{path}: was made with --lexical-only, so it has no vectors; search with --mode "
            "lexical and without --hyde, or index into another file"
        )
    embedder = load_embedder_of(with_embedder_of(index, choice))
    return Opened(Index.open(path, embedder), mode, embedder)


def with_embedder_of(index: Index | None, choice: ModelChoice) -> ModelChoice:
    """Name the index's own embedder where none is asked for and the catalogue has that name."""
    own = index.embedder_name if index is not None else None
    asked = choice.embedder or os.environ.get("LGMGC_EMBEDDER")
    return replace(choice, embedder=own) if not asked and own in CATALOGUE else choice


def load_embedder_of(choice: ModelChoice) -> Embedder:
    """Load the embedder asked for.

    Raises:
        ModelError: it is not there.
    """
    with busy("loading the embedder"):
        from lgmgc.lm.embedder import load_embedder

        return load_embedder(choice.embedder, cache=choice.cache, device=choice.device)


def load_writer_of(choice: ModelChoice) -> Writer:
    """Load the language model that writes.

    Raises:
        ModelError: it is not there.
    """
    with busy("loading the model"):
        from lgmgc.lm.writer import load_writer

        return load_writer(
            choice.model, cache=choice.cache, device=choice.device, precision=choice.precision
        )


def make_hyde(search: Search, writer: Writer | None, embedder: Embedder | None) -> Hyde | None:
    """What the options ask for; None: search with the question itself."""
    if not search.hyde or writer is None or embedder is None:
        return None
    return Hyde(writer, embedder, average=search.average)


def busy(what: str) -> AbstractContextManager[object]:
    """Show, on a terminal, what goes on."""
    terminal = messages.level >= 0 and sys.stderr is not None and sys.stderr.isatty()
    return Console(stderr=True, quiet=not terminal).status(what)
