"""From texts to unit rows, and how rows are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lgmgc.errors import ModelError

VectorType = Literal["float32", "int8"]
Rows = NDArray[np.float32]
Stored = NDArray[np.float32] | NDArray[np.int8]


class TextEmbedder(Protocol):
    """Turns texts into rows whose products are similarities, the same rows in every run."""

    @property
    def name(self) -> str:
        """How a user names it."""
        ...

    @property
    def identity(self) -> str:
        """What changes whenever its rows would: a hash of weights and settings."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in a row."""
        ...

    def passages(self, texts: Sequence[str]) -> Rows:
        """Rows of texts to be found, shape (texts, dimensions)."""
        ...

    def queries(self, texts: Sequence[str]) -> Rows:
        """Rows of texts to search with, shape (texts, dimensions)."""
        ...


class Packed(NamedTuple):
    """Rows as bytes, little-endian: float32, or int8 with one float32 factor a row."""

    rows: bytes
    scales: bytes


def unit(rows: NDArray[Any], count: int, dimensions: int, name: str) -> Rows:
    """Scale rows to length 1, so that a product is a cosine; a row of zeros stays.

    Raises:
        ModelError: the shape is not (count, dimensions), or a number is infinite or NaN.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]]), 2, 2, "example").tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    if rows.shape != (count, dimensions) or not np.isfinite(rows).all():
        raise ModelError(
            f"{name} gave rows of shape {rows.shape} where finite numbers of shape "
            f"{(count, dimensions)} are needed; choose another embedder"
        )
    exact = rows.astype(np.float64)
    norms = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return (exact / np.where(norms > 0, norms, 1)).astype(np.float32)


def pack(rows: Rows, kind: VectorType) -> Packed:
    """Rows to bytes.

    int8 takes a quarter of the room. A row's largest number becomes ±127 and each number is off by
    at most half a step, so a similarity is off by at most ``max|row| / 254 · sum|query|``.

    Args:
        rows: shape (n, dimensions).
        kind: how to keep them.
    """
    if kind == "float32":
        return Packed(rows.astype("<f4").tobytes(), b"")
    scales = (np.abs(rows).max(axis=1, initial=0) / 127).astype("<f4")
    steps = rows / np.where(scales > 0, scales, 1)[:, None]
    return Packed(np.rint(steps).astype(np.int8).tobytes(), scales.tobytes())


def unpack(packed: Packed, kind: VectorType, dimensions: int) -> tuple[Stored, Rows]:
    """Bytes to rows of shape (n, dimensions) and factors of shape (n,), empty for float32."""
    rows = np.frombuffer(packed.rows, "<f4" if kind == "float32" else np.int8)
    return rows.reshape(-1, dimensions), np.frombuffer(packed.scales, "<f4")
