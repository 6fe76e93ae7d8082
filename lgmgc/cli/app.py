"""The program `lgmgc`: its commands, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from lgmgc import __version__
from lgmgc.cli.ask import ask
from lgmgc.cli.chunk import chunk
from lgmgc.cli.doctor import doctor
from lgmgc.cli.evaluate import eval_app
from lgmgc.cli.index import index
from lgmgc.cli.messages import say
from lgmgc.cli.methods import methods
from lgmgc.cli.models import models_app
from lgmgc.cli.report import report
from lgmgc.cli.search import search
from lgmgc.errors import LgmgcError

app = typer.Typer(
    name="lgmgc",
    help="Cut long documents into chunks where a local language model says that the text ends.",
    no_args_is_help=True,
    add_completion=False,
    # Their tracebacks may show the values of variables, and so quote documents (law 6).
    pretty_exceptions_enable=False,
)
app.command()(chunk)
app.command()(report)
app.command()(index)
app.command()(search)
app.command()(ask)
app.command()(methods)
app.command()(doctor)
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
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Cut long documents into chunks where a local language model says that the text ends."""
