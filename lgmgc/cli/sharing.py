"""Options that several commands have, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

Command = Callable[..., None]
Decorator = Callable[[Command], Command]


def sharing(options: Callable[..., object], name: str | None = None) -> Decorator:
    """Make a decorator that gives commands the options of a function.

    Args:
        options: its parameters, annotated for typer, are the options; it is called with what the
            user chose, before the command.
        name: the keyword by which a command gets the result; None: it gets none.

    >>> shared = sharing(lambda size=1: 2 * size, "twice")
    >>> command = shared(lambda place, *, twice: print(place, twice))
    >>> command(place="a", size=4)
    a 8
    """
    shared = inspect.signature(options, eval_str=True).parameters

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters
        parameters = [p for p in own.values() if p.name != name] + list(shared.values())

        @wraps(command)
        def run(**given: Any) -> None:
            made = options(**{key: given.pop(key) for key in shared})
            command(**given, **({} if name is None else {name: made}))

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        )
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate
