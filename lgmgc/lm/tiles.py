"""Layers computed in tiles of a fixed number of rows, so that batches cannot change cuts.

Matrix libraries choose another kernel, and so another order of additions, for another number of
rows: in bf16 the same window then scores differently by some hundredths of a nat beside other
windows, and some per cent of a novel's cuts move. With the number of rows fixed, a row's result
depends on that row alone, bit by bit (law 4). A whole MLP is run tile by tile, and so is a norm,
which keeps what stands between their steps in the processor's cache and so pays for the smaller
products. The last tile of a batch may be shorter, where this changes no bit.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lgmgc.lm.onednn import GatedMLP, OneDnnLinear

TILE = 512
"""Rows. Half as many cost a third of the speed in bf16 with AMX; more are wasted on one window."""


GRAIN = 64
"""Rows by which a short tile may differ from others."""

Function = Callable[[torch.Tensor], torch.Tensor]


def tile(module: torch.nn.Module) -> None:
    """Make a backbone's MLPs, norms and other linear layers work tile by tile, in place.

    Quantised layers are of their own classes and stay as they are.
    """
    linear = type(module) in (torch.nn.Linear, OneDnnLinear)
    if linear or type(module).__name__.endswith(("MLP", "Norm")):
        plain = module.forward
        # Other arguments may hold rows too; a module that takes some is left to itself.
        module.forward = lambda input, *more, **named: (
            plain(input, *more, **named) if more or named else _by_tiles(plain, input)
        )
    else:
        for part in module.children():
            tile(part)


@torch.inference_mode()
def grain(backbone: torch.nn.Module) -> int:
    """Of how many rows batches have to be multiples, that a row's result depends on it alone.

    The layers are asked, for it depends on the processor and on the version of oneDNN.

    Returns:
        `GRAIN`, or `TILE` where a short tile changes a bit, or a layer is of a kind unknown here.
    """
    asked: set[object] = set()
    for part in backbone.modules():
        weights = list(part.parameters(recurse=False))
        if isinstance(part, OneDnnLinear):
            width = part.in_features
        elif isinstance(part, GatedMLP):
            width = part.gate_proj.in_features
        elif type(part).__name__.endswith("Norm") and weights:
            width = weights[0].shape[-1]
        elif isinstance(part, torch.nn.Embedding) or all(weight.dim() < 2 for weight in weights):
            continue
        else:
            return TILE
        dtype = next(part.parameters()).dtype
        kind = type(part), dtype, *(weight.shape for weight in part.parameters())
        if kind not in asked and not _same_when_short(part, width, dtype):
            return TILE
        asked.add(kind)
    return GRAIN


def _same_when_short(function: Function, width: int, dtype: torch.dtype) -> bool:
    rows = torch.randn(TILE, width, generator=torch.Generator().manual_seed(0)).to(dtype)
    whole = function(rows)
    return all(
        torch.equal(function(rows[:size]), whole[:size]) for size in range(GRAIN, TILE, GRAIN)
    )


def _by_tiles(function: Function, input: torch.Tensor) -> torch.Tensor:
    rows = input.reshape(-1, input.shape[-1])
    if len(rows) <= TILE:
        return function(input)
    first = function(rows[:TILE])
    out = first.new_empty(len(rows), first.shape[-1])
    out[:TILE] = first
    for start in range(TILE, len(rows), TILE):
        out[start : start + TILE] = function(rows[start : start + TILE])
    return out.view(*input.shape[:-1], out.shape[-1])
