"""What every command has: --quiet and --verbose."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from lgmgc.cli import config, messages


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


def spoken(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command say less or more on stderr when it is told to."""
    own = inspect.signature(command, eval_str=True).parameters
    shared = inspect.signature(_spoken, eval_str=True).parameters

    @wraps(command)
    def run(**given: Any) -> None:
        _spoken(**{name: given.pop(name) for name in shared})
        command(**given)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own.values(), *shared.values())]
    )
    run.__annotations__ = {name: p.annotation for name, p in (*own.items(), *shared.items())}
    return run
