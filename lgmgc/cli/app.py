"""The program `lgmgc`: its commands, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from lgmgc import __version__
from lgmgc.cli.ask import ask
from lgmgc.cli.chunk import chunk
from lgmgc.cli.config import NAME, load_config
from lgmgc.cli.doctor import doctor
from lgmgc.cli.evaluate import eval_app
from lgmgc.cli.index import index
from lgmgc.cli.messages import say
from lgmgc.cli.methods import methods
from lgmgc.cli.models import models_app
from lgmgc.cli.report import report
from lgmgc.cli.search import search
from lgmgc.cli.voice import spoken
from lgmgc.errors import LgmgcError

app = typer.Typer(
    name="lgmgc",
    help="Cut long documents into chunks where a local language model says that the text ends.",
    no_args_is_help=True,
    epilog="Exit status: 0 when all is done; 1 when a document failed or was not found; 2 when an "
    "option, path or model cannot work, and nothing was done; 130 after Ctrl-C.",
    # Their tracebacks may show the values of variables, and so quote documents (law 6).
    pretty_exceptions_enable=False,
)
app.command()(spoken(chunk))
app.command()(spoken(report))
app.command()(spoken(index))
app.command()(spoken(search))
app.command()(spoken(ask))
app.command()(spoken(methods))
app.command()(spoken(doctor))
app.add_typer(eval_app)
app.add_typer(models_app)


def main() -> None:
    """Run the program; an error that the user can mend is one line and an exit status."""
    # No library may ask a hub for anything (law 6); bitsandbytes would, where `kernels` is there.
    os.environ["HF_HUB_OFFLINE"] = "1"
    # So that temporary files are removed when a service manager or `timeout` ends the run.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        app(prog_name="lgmgc")
    except LgmgcError as error:
        say(str(error))
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        sys.exit(130)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lgmgc {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help=f"Options by command, which the command line overrides; left out: {NAME} here.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Cut long documents into chunks where a local language model says that the text ends.

    Example: lgmgc chunk book.txt --out chunks.jsonl
    """
    context.default_map = load_config(config, context.command)
