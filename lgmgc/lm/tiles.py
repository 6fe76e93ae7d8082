"""Layers computed in tiles of a fixed number of rows, so that batches cannot change cuts.

Matrix libraries choose another kernel, and so another order of additions, for another number of
rows: in bf16 the same window then scores differently by some hundredths of a nat beside other
windows, and some per cent of a novel's cuts move. With the number of rows fixed, a row's result
depends on that row alone, bit by bit (law 4). A whole MLP is run tile by tile, and so is a norm,
which keeps what stands between their steps in the processor's cache and so pays for the smaller
products.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

TILE = 512
"""Rows. Half as many cost a third of the speed in bf16 with AMX; more are wasted on one window."""


class TiledLinear(torch.nn.Linear):
    """`torch.nn.Linear`, tile by tile."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As the plain layer."""
        return _by_tiles(super().forward, input)


def tile(module: torch.nn.Module) -> None:
    """Make a backbone's MLPs, norms and other plain linear layers work tile by tile, in place.

    Quantised layers are of their own classes and stay as they are; so do layers that are given
    other than whole tiles, such as the experts of a mixture.
    """
    if type(module) is torch.nn.Linear:
        module.__class__ = TiledLinear
    elif type(module).__name__.endswith(("MLP", "Norm")):
        plain = module.forward
        # Other arguments may hold rows too; a module that takes some is left to itself.
        module.forward = lambda input, *more, **named: (
            plain(input, *more, **named) if more or named else _by_tiles(plain, input)
        )
    else:
        for part in module.children():
            tile(part)


def _by_tiles(
    function: Callable[[torch.Tensor], torch.Tensor], input: torch.Tensor
) -> torch.Tensor:
    rows = input.reshape(-1, input.shape[-1])
    if len(rows) <= TILE or len(rows) % TILE:
        return function(input)
    first = function(rows[:TILE])
    out = first.new_empty(len(rows), first.shape[-1])
    out[:TILE] = first
    for start in range(TILE, len(rows), TILE):
        out[start : start + TILE] = function(rows[start : start + TILE])
    return out.view(*input.shape[:-1], out.shape[-1])
