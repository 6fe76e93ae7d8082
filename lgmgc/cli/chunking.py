"""The options of chunking, which several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.options import Breakpoint, Options, Reader
from lgmgc.cli.sharing import sharing
from lgmgc.errors import UsageError

MODELS = "Models"
METHODS = "Of one method or another (see `lgmgc methods`)"
PATHS = "Files, folders (their .txt and .md files), or - for standard input."
_DEFAULT = Options()

Encoding = Annotated[str, typer.Option(help="Of the files.")]
Errors = Annotated[
    Literal["strict", "replace"],
    typer.Option(help="What to do with bytes that are not valid in the encoding."),
]
Cache = Annotated[
    Path | None,
    typer.Option(help="Where models are kept.", show_default=False, rich_help_panel=MODELS),
]


class Chunking(NamedTuple):
    """What the options ask for."""

    settings: Settings
    choice: ModelChoice


def _chunking(
    theta: Annotated[int, typer.Option(help="θ, the most that a parent holds.")] = 300,
    unit: Annotated[
        Literal["words", "tokens", "characters"], typer.Option(help="What θ counts.")
    ] = "words",
    method: Annotated[
        str, typer.Option(metavar="NAME", help="How parents are made; see `lgmgc methods`.")
    ] = "lgmgc",
    children: Annotated[
        str | None,
        typer.Option(
            metavar="2,4",
            help="Children hold at most θ divided by these; '' for none. "
            "Left out: 2,4 for lgmgc and mg, else none.",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(metavar="CODE", help="For finding sentences, such as en or de; auto: guess."),
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR|FILE.gguf",
            help="Left out: the environment's LGMGC_MODEL, else the catalogue's default.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Left out: the environment's LGMGC_EMBEDDER, else the catalogue's default.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    prompt: Annotated[
        str,
        typer.Option(
            metavar="TEXT|@FILE",
            help="ρ, what the model reads before the text.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = "",
    template: Annotated[
        Literal["raw", "chat"],
        typer.Option(
            help="raw: ρ, then the text; chat: the text is the assistant's turn.",
            rich_help_panel=MODELS,
        ),
    ] = "raw",
    eos: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOKEN",
            help="A token that ends a text; may be repeated. Left out: the model's own.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    device: Annotated[
        Literal["auto", "cuda", "cpu"],
        typer.Option(help="Where the model runs.", rich_help_panel=MODELS),
    ] = "auto",
    precision: Annotated[
        Literal["auto", "int8", "int4", "bf16", "fp32"],
        typer.Option(help="How the model's weights are held.", rich_help_panel=MODELS),
    ] = "auto",
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens that the model reads at once. Left out: chosen.",
            show_default=False,
            rich_help_panel=MODELS,
        ),
    ] = None,
    cache: Cache = None,
    signal: Annotated[
        str,
        typer.Option(
            metavar="SUM",
            help="What tells a boundary: eos, surprise, topic, or a sum such as eos+surprise.",
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.signal,
    drift: Annotated[
        bool,
        typer.Option(
            "--drift",
            help="Take the trend of scores along a window out.",
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.drift,
    least: Annotated[
        int,
        typer.Option(help="The least that a parent holds, if it can.", rich_help_panel=METHODS),
    ] = _DEFAULT.least,
    target: Annotated[
        int,
        typer.Option(help="The mean size to aim for; 0: two thirds of θ.", rich_help_panel=METHODS),
    ] = _DEFAULT.target,
    strength: Annotated[
        float,
        typer.Option(help="How much scores count beside the target.", rich_help_panel=METHODS),
    ] = _DEFAULT.strength,
    overlap: Annotated[
        int,
        typer.Option(help="How much the next chunk repeats.", rich_help_panel=METHODS),
    ] = _DEFAULT.overlap,
    breakpoint: Annotated[
        Breakpoint,
        typer.Option(help="Which distances are breaks.", rich_help_panel=METHODS),
    ] = _DEFAULT.breakpoint,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Percentile, deviations, or depth in nats. Left out: the method's.",
            show_default=False,
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.threshold,
    group: Annotated[
        int, typer.Option(help="Tokens put before the model at once.", rich_help_panel=METHODS)
    ] = _DEFAULT.group,
    reader: Annotated[
        Reader,
        typer.Option(
            help="generate: the model writes its answer; logits: all answers are weighed.",
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.reader,
    propositionizer: Annotated[
        bool,
        typer.Option(
            "--propositionizer",
            help="The model is a T5 trained to write propositions.",
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.propositionizer,
    like: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The method whose sizes are drawn from.", rich_help_panel=METHODS
        ),
    ] = _DEFAULT.like,
    seed: Annotated[
        int, typer.Option(help="Of what is drawn.", rich_help_panel=METHODS)
    ] = _DEFAULT.seed,
    boundaries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Lines with document, start, end.",
            show_default=False,
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.boundaries,
    marker: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="A line after which a chunk ends.",
            show_default=False,
            rich_help_panel=METHODS,
        ),
    ] = _DEFAULT.marker,
) -> Chunking:
    options = Options(
        overlap=overlap,
        signal=signal,
        drift=drift,
        least=least,
        target=target,
        strength=strength,
        breakpoint=breakpoint,
        threshold=threshold,
        group=group,
        reader=reader,
        propositionizer=propositionizer,
        like=like,
        seed=seed,
        boundaries=boundaries,
        marker=marker,
    )
    settings = Settings(method, theta, unit, language, _parts(children), options)
    choice = ModelChoice(
        model=model,
        embedder=embedder,
        prompt=_prompt(prompt),
        template=template,
        eos=eos or (),
        device=device,
        precision=precision,
        batch_tokens=batch_tokens,
        cache=cache,
    )
    return Chunking(settings, choice)


with_chunking = sharing(_chunking, "chunking")
"""Gives a command the options of chunking; it gets a `Chunking` as ``chunking``."""


def _parts(given: str | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    try:
        return tuple(int(part) for part in given.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--children {given!r} is no list of numbers such as 2,4") from None


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
