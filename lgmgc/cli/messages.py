"""What is said to the user, on stderr: one line a message."""

from __future__ import annotations

import typer

level = 0
"""-1 with --quiet, 1 with --verbose. One process runs one command."""


def one_line(message: str) -> str:
    r"""Escape what would break the line or steer the terminal; a file's name may hold anything.

    >>> one_line("a\nb\x1b[2J: é")
    'a\\nb\\x1b[2J: é'
    """
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in message
    )


def say(message: str) -> None:
    """Print one line on stderr, with the program's name."""
    typer.echo(f"lgmgc: {one_line(message)}", err=True)


def tell(message: str) -> None:
    """Print one line on stderr, unless --quiet."""
    if level >= 0:
        typer.echo(one_line(message), err=True)


def detail(message: str) -> None:
    """Print one line on stderr with --verbose."""
    if level > 0:
        typer.echo(one_line(message), err=True)
