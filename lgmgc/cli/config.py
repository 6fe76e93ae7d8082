"""`lgmgc.toml`: what options are where the command line does not say."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from lgmgc.errors import UsageError

NAME = "lgmgc.toml"
ALL = "defaults"
"""The table of options for every command that has them."""

used: Path | None = None
"""The file that was read, to be told with --verbose."""


class Command(Protocol):
    """A command, or a group of commands, as typer makes them."""

    params: list[Any]


def load_config(given: Path | None, group: Command) -> dict[str, Any]:
    """Read a file of defaults.

    It has a table for each command, ``[chunk]``, ``[eval.run]``, with its options without the
    dashes in front (``batch-tokens``), and ``[defaults]`` for all commands that have the option.

    Args:
        given: the file; None for `NAME` in the current folder, if it is there.
        group: the program's commands.

    Returns:
        What click takes for a ``default_map``.

    Raises:
        UsageError: it cannot be read, or names what there is not.
    """
    global used
    path = given or Path(NAME)
    used = path if given is not None or path.is_file() else None
    if used is None:
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: is not TOML ({error}); mend or remove it") from None
    common = content.pop(ALL, {})
    every: set[str] = set()
    defaults = _table(str(path), "", group, content, _plain(str(path), ALL, common), every)
    if unknown := sorted(set(_plain(str(path), ALL, common)) - every):
        raise UsageError(f"{path}: no command has the option {unknown[0]!r} of [{ALL}]")
    return defaults


def _table(
    path: str,
    name: str,
    group: Command,
    content: Mapping[str, Any],
    common: Mapping[str, Any],
    every: set[str],
) -> dict[str, Any]:
    """The defaults of a command, or of each of a group's commands.

    Args:
        path: for messages.
        name: of the command, with those above it.
        group: the command.
        content: what the file says of it.
        common: what it says of all.
        every: gets the names of all options.
    """
    commands: Mapping[str, Command] | None = getattr(group, "commands", None)
    if commands is not None:
        if unknown := sorted(set(content) - set(commands)):
            place = f"{name} {unknown[0]}".strip()
            raise UsageError(f"{path}: there is no command {place!r}; remove its table")
        return {
            key: _table(
                path, f"{name} {key}".strip(), each, content.get(key, {}), common, every
            )
            for key, each in commands.items()
        }  # fmt: skip
    options = {p.name: p for p in group.params if p.param_type_name == "option"}
    every |= set(options)
    own = _plain(path, name, content)
    if unknown := sorted(set(own) - set(options)):
        raise UsageError(f"{path}: `lgmgc {name}` has no option {unknown[0]!r}")
    return {key: value for key, value in {**common, **own}.items() if key in options}


def _plain(path: str, name: str, table: object) -> dict[str, Any]:
    """Options as Python names them."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{path}: {name!r} must be a table of options")
    return {key.replace("-", "_"): value for key, value in table.items()}
