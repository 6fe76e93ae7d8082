"""Linear layers on the CPU by oneDNN, with their weights laid out once as its kernels read them.

torch's own layer lays bf16 weights out anew in every product, and hands float32 to MKL, which on
AMD's processors leaves half of their vector units idle. The operators used here are those that
torch's compiler puts in the place of linear layers. Measured by scripts/bench_scoring.
"""

from __future__ import annotations

import functools
from typing import cast

import torch
from transformers.models.llama.modeling_llama import LlamaMLP

_ROWS = 512
"""Rows that the layout is chosen for; see `lgmgc.lm.tiles.TILE`."""
_ACTIVATIONS = {
    "SiLUActivation": ("swish", ""),
    "SiLU": ("swish", ""),
    "GELUTanh": ("gelu", "tanh"),
    "GELUActivation": ("gelu", "none"),
}
"""By class, as transformers names them: oneDNN's name, and the way to compute it."""


class OneDnnLinear(torch.nn.Module):
    """`torch.nn.Linear`, faster; inputs are of the weights' dtype."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        """Lay the weights out, in memory of their own.

        Args:
            weight: shape (out, in), of a dtype that `multiplies` finds.
            bias: shape (out,).
        """
        super().__init__()
        self.out_features, self.in_features = weight.shape
        laid = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _ROWS)
        self.weight = torch.nn.Parameter(laid, requires_grad=False)
        self.bias = bias

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As the plain layer."""
        return self.activated(input, "none")

    def activated(self, input: torch.Tensor, activation: str, way: str = "") -> torch.Tensor:
        """The activation of the layer's output, which is not rounded before."""
        made = torch.ops.mkldnn._linear_pointwise(
            input, self.weight, self.bias, activation, [], way
        )
        return cast(torch.Tensor, made)

    def times(self, input: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        """The layer's output times a factor of its shape."""
        made = torch.ops.mkldnn._linear_pointwise.binary(
            input, factor, self.weight, self.bias, "mul"
        )
        return cast(torch.Tensor, made)


class GatedMLP(torch.nn.Module):
    """``down(activation(gate(x)) * up(x))``, the MLP of most architectures."""

    def __init__(self, mlp: torch.nn.Module) -> None:
        """Take over a module that `gated` tells."""
        super().__init__()
        self.gate_proj = cast(OneDnnLinear, mlp.gate_proj)
        self.up_proj = cast(OneDnnLinear, mlp.up_proj)
        self.down_proj = cast(OneDnnLinear, mlp.down_proj)
        self._activation = _ACTIVATIONS[type(mlp.act_fn).__name__]

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As the module that it was made of."""
        gate = self.gate_proj.activated(input, *self._activation)
        made: torch.Tensor = self.down_proj(self.up_proj.times(input, gate))
        return made


def lay_out(module: torch.nn.Module) -> None:
    """Replace the linear layers below a module, and the MLPs that they make up.

    Quantised layers are of their own classes and stay as they are.
    """
    for name, part in module.named_children():
        lay_out(part)
        if type(part) is torch.nn.Linear and multiplies(part.weight.device, part.weight.dtype):
            setattr(module, name, OneDnnLinear(part.weight, part.bias))
        elif gated(part):
            setattr(module, name, GatedMLP(part))


def gated(module: torch.nn.Module) -> bool:
    """Whether a module computes what `GatedMLP` does, by laid-out layers.

    Others have the same parts and do more with them, such as Falcon-H1 and Gemma 3n, so the code
    has to be that of Llama, as it is in most architectures.
    """
    layers = {name: type(part) for name, part in module.named_children()}
    activation = layers.pop("act_fn", torch.nn.Identity).__name__
    return (
        activation in _ACTIVATIONS
        and layers == dict.fromkeys(("gate_proj", "up_proj", "down_proj"), OneDnnLinear)
        and _code(type(module)) == _code(LlamaMLP)
    )


def _code(kind: type[torch.nn.Module]) -> tuple[object, ...]:
    code = getattr(kind.forward, "__code__", None)
    return (code.co_code, code.co_names, code.co_consts) if code else ()


@functools.cache
def multiplies(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether this torch has oneDNN and its operators, and this processor can use them."""
    if device.type != "cpu" or dtype not in (torch.bfloat16, torch.float32):
        return False
    try:
        layer = OneDnnLinear(torch.eye(16, dtype=dtype))
        one = torch.ones(1, 16, dtype=dtype)
        return torch.equal(layer.times(one, one), one)
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
