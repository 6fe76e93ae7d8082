"""From hidden states to boundary scores: log p([EOS]) of chosen rows, in float32."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lgmgc.errors import ModelError

BLOCK = 16_384
"""Vocabulary entries whose float32 logits are held at once, for one tile of rows."""
TILE = 64
"""Rows on the CPU; the last tile is filled up, so that a row never sees another shape (law 4)."""
TILE_CUDA = 1_024
KEEP = 256 * 2**20
"""Bytes up to which the layer is kept as a float32 copy instead of being widened in every call."""


class Head:
    """A language model's output layer, for the probability of a set of tokens only.

    The logits are computed in float32 from the model's own weights: in bf16 they would be rounded
    to steps of 1/16 around 16, coarser than the differences that decide cuts. They are never all
    held: blocks of the vocabulary are folded into a running logsumexp.
    """

    def __init__(
        self, layer: torch.nn.Module, eos: Sequence[int], *, scale: float = 1.0, cap: float = 0.0
    ) -> None:
        """Keep what is needed of a layer.

        Args:
            layer: a linear layer (vocabulary, hidden), with or without a bias.
            eos: the token ids whose probabilities add up to p([EOS]).
            scale: what the architecture multiplies logits by.
            cap: the architecture's soft cap, ``cap * tanh(logits / cap)``; 0 for none.

        Raises:
            ModelError: an id of ``eos`` that the layer has no row for.
        """
        weight, bias = layer.weight, getattr(layer, "bias", None)
        assert isinstance(weight, torch.Tensor)
        if max(eos) >= len(weight):
            raise ModelError(f"[EOS] {max(eos)} is outside the model's {len(weight)} output tokens")
        weight = weight.detach()
        keep = torch.float32 if 4 * weight.numel() <= KEEP else weight.dtype
        self._blocks = [block.to(keep) for block in weight.split(BLOCK)]
        self._biases = [None] * len(self._blocks) if bias is None else bias.detach().split(BLOCK)
        self._eos = weight[list(eos)].float()
        self._eos_bias = None if bias is None else bias.detach()[list(eos)].float()
        self._scale = scale
        self._cap = cap

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """``log Σ exp(logit[eos]) − log Σ exp(logit)`` of each row.

        Args:
            hidden: shape (rows, hidden), the final normed states.

        Returns:
            Shape (rows,), float32, natural logarithms.
        """
        rows = hidden.to(self._eos.device, torch.float32)
        tile = TILE if rows.device.type == "cpu" else TILE_CUDA
        rows = torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % tile))
        return torch.cat([self._log_p(part) for part in rows.split(tile)])[: len(hidden)]

    def _log_p(self, hidden: torch.Tensor) -> torch.Tensor:
        parts = [
            self._logits(hidden, block, bias).logsumexp(-1)
            for block, bias in zip(self._blocks, self._biases, strict=True)
        ]
        ends = self._logits(hidden, self._eos, self._eos_bias).logsumexp(-1)
        return ends - torch.stack(parts).logsumexp(0)

    def _logits(
        self, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        bias = None if bias is None else bias.float()
        logits = self._scale * torch.nn.functional.linear(hidden, weight.float(), bias)
        return self._cap * torch.tanh(logits / self._cap) if self._cap else logits
