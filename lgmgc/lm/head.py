"""From hidden states to log p of chosen rows, in float32: of [EOS], and of given tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from lgmgc.errors import ModelError
from lgmgc.lm.onednn import OneDnnLinear, multiplies

BLOCK = 16_384
"""Vocabulary entries whose float32 logits are held at once, for one tile of rows."""
TILE = 64
"""Rows on the CPU; the last tile is filled up, so that a row never sees another shape (law 4)."""
TILE_TOKENS = 512
"""The same where tokens are weighed, which are many; larger tiles are a third quicker."""
TILE_CUDA = 1_024
KEEP = 256 * 2**20
"""Bytes up to which the layer is kept as a float32 copy instead of being widened in every call,
where the device cannot multiply the weights as they are into float32."""


class Head:
    """A language model's output layer, for the probability of few tokens a row.

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
        self._direct = _multiplies_into_float32(weight)
        small = 4 * weight.numel() <= KEEP and not self._direct
        laid = small and multiplies(weight.device, torch.float32)
        self._weight = weight.float() if small and not laid else weight
        self._bias = None if bias is None else bias.detach().float()
        blocks = [slice(start, start + BLOCK) for start in range(0, len(weight), BLOCK)]
        self._blocks: list[OneDnnLinear | slice] = [
            OneDnnLinear(weight[block].float(), None if self._bias is None else self._bias[block])
            if laid
            else block
            for block in blocks
        ]
        self._end_ids = list(eos)
        self._scale = scale
        self._cap = cap

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """``log Σ exp(logit[eos]) − log Σ exp(logit)`` of each row.

        Args:
            hidden: shape (rows, hidden), the final normed states.

        Returns:
            Shape (rows,), float32, natural logarithms.
        """
        return self._tiled(self._log_p_ends, TILE, hidden)

    def log_p(self, hidden: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The log p of one token a row, beside that of [EOS].

        Args:
            hidden: shape (rows, hidden), the final normed states.
            tokens: shape (rows,), ids.

        Returns:
            Shape (rows, 2), float32: of [EOS], of the token.
        """
        return self._tiled(self._log_p_both, TILE_TOKENS, hidden, tokens)

    def _tiled(
        self,
        function: Callable[..., torch.Tensor],
        tile: int,
        hidden: torch.Tensor,
        tokens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        device = self._weight.device
        tile = tile if device.type == "cpu" else TILE_CUDA
        filling = -len(hidden) % tile
        pad = torch.nn.functional.pad
        direct = self._direct and hidden.dtype == self._weight.dtype
        hidden = hidden.to(device, hidden.dtype if direct else torch.float32)
        parts = [pad(hidden, (0, 0, 0, filling)).split(tile)]
        if tokens is not None:
            parts.append(pad(tokens.to(device), (0, filling)).split(tile))
        made = [function(*part) for part in zip(*parts, strict=True)]
        return torch.cat(made)[: len(hidden)]

    def _log_p_ends(self, hidden: torch.Tensor) -> torch.Tensor:
        return self._ends(hidden) - self._normaliser(hidden)

    def _log_p_both(self, hidden: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        normaliser = self._normaliser(hidden)
        logits = (hidden * self._weight[tokens].float()).sum(-1)
        if self._bias is not None:
            logits = logits + self._bias[tokens]
        return torch.stack((self._ends(hidden), self._finished(logits)), -1) - normaliser[:, None]

    def _ends(self, hidden: torch.Tensor) -> torch.Tensor:
        bias = None if self._bias is None else self._bias[self._end_ids]
        return self._logits(hidden.float(), self._weight[self._end_ids], bias).logsumexp(-1)

    def _normaliser(self, hidden: torch.Tensor) -> torch.Tensor:
        parts = []
        for block in self._blocks:
            if isinstance(block, OneDnnLinear):
                logits = self._finished(block(hidden))
            else:
                bias = None if self._bias is None else self._bias[block]
                logits = self._logits(hidden, self._weight[block], bias)
            parts.append(logits.logsumexp(-1))
        return torch.stack(parts).logsumexp(0)

    def _logits(
        self, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
    ) -> torch.Tensor:
        if hidden.dtype == torch.float32:
            return self._finished(torch.nn.functional.linear(hidden, weight.float(), bias))
        logits = torch.mm(hidden, weight.t(), out_dtype=torch.float32)
        return self._finished(logits if bias is None else logits + bias)

    def _finished(self, logits: torch.Tensor) -> torch.Tensor:
        logits = self._scale * logits
        return self._cap * torch.tanh(logits / self._cap) if self._cap else logits


def _multiplies_into_float32(weight: torch.Tensor) -> bool:
    """Whether the device multiplies such weights by states of their type into float32.

    That rounds as little as widening both (products of two bf16 numbers are exact in float32), and
    takes matrix units that multiply float32 ten times slower or not at all.
    """
    if weight.device.type != "cuda" or weight.dtype not in (torch.bfloat16, torch.float16):
        return False
    try:
        torch.mm(weight[:16], weight[:16].t(), out_dtype=torch.float32)
    except (RuntimeError, TypeError):  # an old card, or a torch before 2.8
        return False
    return True
