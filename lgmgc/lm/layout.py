"""How a batch of windows lies in memory: packed end to end, or padded to the longest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layout:
    """A batch as the model takes it.

    Attributes:
        ids: shape (rows, columns), token ids; 0 where there is none.
        positions: shape as ``ids``: each token's place in its window, counted from 0.
        starts: shape (windows,): where each window begins in the flattened ``ids``.
        lengths: the windows' tokens.
    """

    ids: Ids
    positions: Ids
    starts: Ids
    lengths: tuple[int, ...]


def padded(windows: Sequence[Ids]) -> Layout:
    """One window a row, filled up on the right; causal attention never looks there.

    >>> padded([np.array([5, 6, 7]), np.array([8])]).ids.tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    lengths = tuple(map(len, windows))
    columns = max(1, *lengths)
    ids = np.zeros((len(windows), columns), np.int64)
    for row, window in zip(ids, windows, strict=True):
        row[: len(window)] = window
    positions = np.broadcast_to(np.arange(columns), ids.shape)
    return Layout(ids, positions, np.arange(len(windows)) * columns, lengths)


def packed(windows: Sequence[Ids], grain: int) -> Layout:
    """All windows in one row, filled up to a multiple of a number of places.

    >>> layout = packed([np.array([5, 6, 7]), np.array([8])], grain=6)
    >>> layout.ids.tolist(), layout.positions.tolist()
    ([[5, 6, 7, 8, 0, 0]], [[0, 1, 2, 0, 0, 0]])
    """
    lengths = tuple(map(len, windows))
    total = sum(lengths)
    ids = np.zeros((1, max(1, -(-total // grain)) * grain), np.int64)
    ids[0, :total] = np.concatenate(windows)
    positions = np.zeros_like(ids)
    positions[0, :total] = np.concatenate([np.arange(length) for length in lengths])
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    return Layout(ids, positions, starts, lengths)
