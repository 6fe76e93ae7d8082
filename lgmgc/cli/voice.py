"""What every command has: --quiet and --verbose."""

from __future__ import annotations

from typing import Annotated

import typer

from lgmgc.cli import config, messages
from lgmgc.cli.sharing import sharing


def _spoken(
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say which files and models are used.")
    ] = False,
) -> None:
    messages.level = int(verbose) - int(quiet)
    if config.used is not None:
        messages.detail(f"options from {config.used}")


spoken = sharing(_spoken)
"""Lets a command say less or more on stderr when it is told to."""
