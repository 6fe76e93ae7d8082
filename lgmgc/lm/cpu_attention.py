"""Attention on a CPU in bf16 by plain matrix products, faster there than torch's fused kernel.

The fused kernel never holds the weights, for which it works through small tiles. Here the weights
of one block of queries are held, which are few enough for the processor's cache and many enough for
its matrix units. The same is no faster in float32, and on a GPU it would be slower by far.
Measured by scripts/bench_scoring.
"""

from __future__ import annotations

import torch

BLOCK = 128
"""Queries whose weights are held together."""


class BlockedAttention:
    """Attends in blocks of queries, with one buffer for the weights of all windows of a batch.

    Fresh memory for each product would be given back to the system and faulted in again.
    """

    def __init__(self, query: torch.Tensor, most: int) -> None:
        """Take the buffer.

        Args:
            query: shape (1, heads, places, head size), of the batch.
            most: the most keys that a window has.
        """
        self._buffer = query.new_empty(query.shape[1] * BLOCK * most)
        ahead = query.new_full((BLOCK, BLOCK), float("-inf"))
        self._ahead = ahead.triu_(1)

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        reach: int,
        scaling: float,
    ) -> torch.Tensor:
        """Attend within one window.

        Args:
            query: shape (1, heads, length, head size), the last of the window's places.
            key: shape (1, key heads, before + length, head size).
            value: as ``key``.
            reach: how many keys, its own included, a query sees at most.
            scaling: of the products.

        Returns:
            Shape (1, heads, length, head size).
        """
        heads, length = query.shape[1:3]
        key_heads = key.shape[1]
        before = key.shape[2] - length
        # Queries that share a key head lie side by side, so that one product serves them all.
        grouped = (query[0] * scaling).unflatten(0, (key_heads, heads // key_heads))
        out = value.new_empty(1, heads, length, value.shape[3])
        for start in range(0, length, BLOCK):
            stop = min(start + BLOCK, length)
            rows = stop - start
            first = max(0, before + start + 1 - reach)
            seen = before + stop - first
            weights = self._buffer[: heads * rows * seen].view(key_heads, -1, seen)
            block = grouped[:, :, start:stop].flatten(1, 2)
            torch.bmm(block, key[0, :, first : before + stop].transpose(1, 2), out=weights)
            by_row = weights.view(heads, rows, seen)
            by_row[:, :, -rows:] += self._ahead[:rows, :rows]
            if reach < before + stop:
                by_row += self._behind(rows, seen, before + start - first - reach)
            torch.softmax(weights, dim=-1, out=weights)
            out[0, :, start:stop] = torch.bmm(weights, value[0, :, first : before + stop]).view(
                heads, rows, -1
            )
        return out

    def _behind(self, rows: int, seen: int, lost: int) -> torch.Tensor:
        """Shape (rows, seen), −∞ where a key lies out of reach.

        Args:
            rows: queries of the block.
            seen: keys that any of them sees.
            lost: the last key that the first query does not reach, counted in ``seen``.
        """
        hidden = self._buffer.new_full((rows, seen), float("-inf"))
        return hidden.tril_(lost)
