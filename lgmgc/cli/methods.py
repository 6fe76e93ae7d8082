"""`lgmgc methods`: every way to make parents."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from lgmgc.chunkers.methods import METHODS


def methods() -> None:
    """List the methods of `lgmgc chunk --method`: what each does, costs, and can be told.

    Example: lgmgc methods
    """
    table = Table(box=None, pad_edge=False)
    for heading in ("METHOD", "DOES", "COSTS", "OPTIONS"):
        table.add_column(heading, overflow="fold")
    for method in METHODS.values():
        options = " ".join(f"--{name}" for name in method.options)
        table.add_row(method.name, method.summary, method.cost, options)
    console = Console()
    if not console.is_terminal:
        console.width = 240  # a pipe has no width: one line a row, for grep
    console.print(table)
