"""Attention over packed windows: each attends to ρ and itself, no place is computed for padding.

Registered with transformers under `NAME`, so that every architecture which takes its attention
from there can run packed. Each window's attention is computed by itself, with its own length, so
its numbers do not depend on what else is in the batch (law 4).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

import torch
from transformers import AttentionInterface

from lgmgc.lm.cpu_attention import BlockedAttention

NAME = "lgmgc_packed"


class UnsupportedAttention(Exception):
    """The architecture asks for something that packed attention does not do."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Where windows lie in a packed row.

    Attributes:
        lengths: the windows' tokens, in order; places after the last belong to none.
        prefix: tokens of ρ whose keys and values stand before the row's own.
        branches: whether the windows behind the first one go on from its end.
    """

    lengths: tuple[int, ...]
    prefix: int = 0
    branches: bool = False
    masks: dict[tuple[int, int, int], torch.Tensor | None] = field(default_factory=dict)

    @property
    def most_keys(self) -> int:
        """The most keys that a window's last query could see."""
        first = self.lengths[0] if self.branches else 0
        return self.prefix + first + max(self.lengths)

    def before(self, window: int) -> int:
        """The keys that stand before a window's own: of ρ, and of what it goes on from."""
        return self.prefix + (self.lengths[0] if self.branches and window else 0)

    def mask(
        self, before: int, length: int, reach: int, device: torch.device
    ) -> torch.Tensor | None:
        """Shape (length, before + length), true where a query may look; None for plain causal.

        Args:
            before: see the method of that name.
            length: the window's tokens.
            reach: how many keys, its own included, a query sees at most.
            device: where the mask is needed.
        """
        key = (before, length, min(reach, before + length))
        if key not in self.masks:
            if before == 0 and key[2] == length:
                self.masks[key] = None
            else:
                query = torch.arange(length, device=device)[:, None] + before
                behind = query - torch.arange(before + length, device=device)
                self.masks[key] = (behind >= 0) & (behind < key[2])
        return self.masks[key]


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    packing: Packing | None = None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    **asked: object,
) -> tuple[torch.Tensor, None]:
    """What transformers calls in every layer.

    Args:
        module: the attention layer.
        query: shape (1, heads, places, head size).
        key: shape (1, key heads, prefix + places, head size).
        value: as ``key``.
        attention_mask: none is made for this attention.
        packing: given to the model's forward, handed down by it.
        scaling: of the products; None for 1/√(head size).
        sliding_window: how many keys a query sees in this layer.
        asked: whatever else the architecture hands down.

    Returns:
        Shape (1, places, heads, head size), and no weights.

    Raises:
        UnsupportedAttention: the architecture needs more than this function does.
    """
    strange = [
        name for name in ("softcap", "s_aux", "position_bias") if asked.get(name) is not None
    ]
    if packing is None or attention_mask is not None or strange:
        raise UnsupportedAttention(", ".join(strange) or "no packing")
    reach = sliding_window or key.shape[2]
    scale = query.shape[3] ** -0.5 if scaling is None else scaling
    blocks = query.device.type == "cpu" and query.dtype == torch.bfloat16
    blocked = BlockedAttention(query, packing.most_keys) if blocks else None
    out = query.new_zeros(query.shape[0], query.shape[2], query.shape[1], value.shape[3])
    start = 0
    for window, length in enumerate(packing.lengths):
        stop = start + length
        before = packing.before(window)
        own = query[:, :, start:stop]
        keys, values = (
            _with_prefix(states, packing.prefix, before, start, stop) for states in (key, value)
        )
        if blocked:
            made = blocked(own, keys, values, reach, scale)
        else:
            mask = packing.mask(before, length, reach, query.device)
            made = _fused(own, keys, values, mask, scale)
        out[:, start:stop] = made.transpose(1, 2)
        start = stop
    return out, None


def _fused(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scale: float,
) -> torch.Tensor:
    """One window by the kernel that torch chooses; without a mask it is causal."""
    groups = query.shape[1] // key.shape[1]
    if mask is not None and groups > 1:
        # Grouped heads and a mask together would leave the fast kernels on CUDA.
        key, value = (states.repeat_interleave(groups, dim=1) for states in (key, value))
    return torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=mask is None,
        scale=scale,
        enable_gqa=mask is None and groups > 1,
    )


def _with_prefix(
    states: torch.Tensor, prefix: int, before: int, start: int, stop: int
) -> torch.Tensor:
    own = states[:, :, prefix + start : prefix + stop]
    # The first window stands directly behind ρ, so what a branch goes on from is in one piece.
    return torch.cat((states[:, :, :before], own), dim=2) if before else own


def cache_name(module: torch.nn.Module) -> str:
    """What a module's forward calls its cache: transformers renamed it within version 5."""
    return "cache" if "cache" in inspect.signature(module.forward).parameters else "past_key_values"


AttentionInterface.register(NAME, attend)
