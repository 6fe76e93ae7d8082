"""What the card can do by itself: matrix products in every type, and attention over packed windows."""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from gpu_checks.device import Bench, Lines, guarded, heads, per_call, row
from gpu_checks.shapes import Shape, windows
from lgmgc.lm.attention import Packing, attend
from lgmgc.lm.machine import avoid_plans

Product = Callable[[], object]
KINDS = ("bf16", "bf16 into fp32", "fp32", "int8", "fp8")
USES = {"int8": "int8", "int8-dynamic": "int8", "fp8-dynamic": "fp8"}
"""The type in which a precision multiplies, where that is not bf16."""


def product(kind: str, rows: int, inputs: int, outputs: int, device: torch.device) -> Product:
    """A matrix product on random data (zeros run faster), weights laid out as a linear layer's."""
    left = torch.randn(rows, inputs, device=device, dtype=torch.float32)
    right = torch.randn(outputs, inputs, device=device, dtype=torch.float32)
    if kind == "fp32":
        return lambda: torch.mm(left, right.t())
    if kind == "int8":
        a, b = (torch.clamp(x * 40, -127, 127).to(torch.int8) for x in (left, right))
        return lambda: torch._int_mm(a, b.t())
    if kind == "fp8":
        a, b = (x.to(torch.float8_e4m3fn) for x in (left, right))
        one = torch.ones((), device=device)
        return lambda: torch._scaled_mm(
            a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16
        )
    a, b = left.bfloat16(), right.bfloat16()
    if kind == "bf16 into fp32":
        return lambda: torch.mm(a, b.t(), out_dtype=torch.float32)
    return lambda: torch.mm(a, b.t())


def rate(bench: Bench, kind: str, sizes: Sequence[tuple[int, int, int]]) -> float:
    """Operations a second, over products of these (rows, inputs, outputs) one after another."""
    seconds = 0.0
    with torch.inference_mode():
        for size in sizes:
            run = product(kind, *size, bench.device)
            seconds += per_call(bench.device, run, bench.shape.calls)
    return sum(2.0 * m * k * n for m, k, n in sizes) / seconds


def square(bench: Bench, precision: str) -> float:
    """The rate of large squares in the type that a precision multiplies in."""
    side = bench.shape.square
    return rate(bench, USES.get(precision, "bf16"), [(side, side, side)])


def layer_sizes(shape: Shape, rows: int) -> list[tuple[int, int, int]]:
    """The products of one decoder layer."""
    llama = shape.llama
    hidden, inner = llama["hidden_size"], llama["intermediate_size"]
    keys = hidden // llama["num_attention_heads"] * llama["num_key_value_heads"]
    outputs = [(hidden, hidden), (hidden, keys), (hidden, keys), (hidden, hidden)]
    outputs += [(hidden, inner), (hidden, inner), (inner, hidden)]
    return [(rows, k, n) for k, n in outputs]


def products(bench: Bench) -> Lines:
    """The rates that all shares below are shares of."""
    side, rows = bench.shape.square, (bench.shape.budgets[0], bench.shape.budget)
    yield (
        f"Matrix products by themselves, random data, TFLOP/s. {side}³ squares, and the seven linear "
        f"layers of one decoder layer for {rows[0]:,} and {rows[1]:,} rows."
    )
    yield from heads("type", f"{side}³", *(f"layers, {r:,} rows" for r in rows))
    for kind in KINDS:
        cells = []
        for sizes in ([(side, side, side)], *(layer_sizes(bench.shape, r) for r in rows)):
            made = guarded(bench.device, lambda s=sizes, k=kind: rate(bench, k, s))
            cells.append(made if isinstance(made, str) else f"{made / 1e12:,.3g}")
        yield row([kind, *cells])


def attention(bench: Bench) -> Lines:
    """Ways to attend within each of many windows, and what new lengths cost."""
    shape, device = bench.shape, bench.device
    some = windows(shape.theta, shape.budget, shape.llama["vocab_size"], seed=5)
    lengths = tuple(len(w.window.ids) for w in some)
    heads_, keys = shape.llama["num_attention_heads"], shape.llama["num_key_value_heads"]
    size = shape.llama["hidden_size"] // heads_
    query = _states(heads_, sum(lengths), size, device)
    key, value = (_states(keys, sum(lengths), size, device) for _ in "kv")
    module = torch.nn.Module()

    def packed() -> torch.Tensor:
        return attend(module, query, key, value, None, packing=Packing(lengths))[0][0]

    ways: dict[str, Callable[[], torch.Tensor]] = {
        "packed, one call a window (lgmgc)": packed,
        "packed, varlen_attn": _varlen(query, key, value, lengths),
        "padded, one call": _padded(query, key, value, lengths),
    }
    yield (
        f"Attention of one layer over {len(lengths)} windows of θ = {shape.theta}, "
        f"{sum(lengths):,} tokens, bf16; × {shape.llama['num_hidden_layers']} for a pass."
    )
    yield from heads("way", "ms", "largest difference from lgmgc's")
    with torch.inference_mode():
        reference = packed().float()
        for name, way in ways.items():
            made = guarded(device, lambda way=way: per_call(device, way, shape.calls))
            off: object = "–"
            if not isinstance(made, str):
                off = f"{(way().float() - reference).abs().max().item():.1e}"
            yield row([name, made if isinstance(made, str) else f"{made * 1e3:.2f}", off])
        yield ""
        yield (
            "The first pass over 24 lengths that were not seen before, and the second, ms. What a "
            "backend plans for every length shows in the first; lgmgc takes cuDNN's away from torch."
        )
        yield from heads("backend", "first", "second")
        backends = {
            "torch's own choice": None,
            "flash": SDPBackend.FLASH_ATTENTION,
            "cuDNN": SDPBackend.CUDNN_ATTENTION,
        }
        for k, (name, backend) in enumerate(backends.items()):
            new = [40 + 4 * n + k for n in range(24)]
            made_ = guarded(device, lambda new=new, b=backend: _over(new, b, query, key, value))
            yield row(
                [name, *([made_, "–"] if isinstance(made_, str) else [f"{s:.1f}" for s in made_])]
            )


def _states(heads_: int, places: int, size: int, device: torch.device) -> torch.Tensor:
    """As a projection leaves them: shape (1, heads, places, size), places outermost in memory."""
    made = torch.randn(1, places, heads_, size, device=device, dtype=torch.bfloat16)
    return made.transpose(1, 2)


def _over(
    lengths: Sequence[int],
    backend: SDPBackend | None,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
) -> tuple[float, float]:
    """Milliseconds of the first and the second pass."""

    def run() -> None:
        for length in lengths:
            one = (states[:, :, :length] for states in (query, key, value))
            scaled_dot_product_attention(*one, is_causal=True, enable_gqa=True)
        if query.is_cuda:
            torch.cuda.synchronize()

    spent = []
    torch.backends.cuda.enable_cudnn_sdp(True)
    try:
        for _ in range(2):
            began = time.perf_counter()
            if backend is None:
                run()
            else:
                with sdpa_kernel(backend):
                    run()
            spent.append(1e3 * (time.perf_counter() - began))
    finally:
        avoid_plans()
    return spent[0], spent[1]


def _varlen(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: Sequence[int]
) -> Callable[[], torch.Tensor]:
    """torch's attention over packed sequences; CUDA only, since version 2.10."""
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    bounds = torch.from_numpy(starts).to(query.device)
    groups = query.shape[1] // key.shape[1]

    def run() -> torch.Tensor:
        varlen = importlib.import_module("torch.nn.attention.varlen").varlen_attn
        # Version 2.10 says is_causal, later ones window_size; repeated keys serve all of them.
        named = inspect.signature(varlen).parameters
        causal = {"window_size": (-1, 0)} if "window_size" in named else {"is_causal": True}
        q, k, v = (states[0].transpose(0, 1) for states in (query, key, value))
        if "enable_gqa" in named:
            causal["enable_gqa"] = True
        else:
            k, v = (states.repeat_interleave(groups, 1) for states in (k, v))
        made: torch.Tensor = varlen(q, k, v, bounds, bounds, max(lengths), max(lengths), **causal)
        return made

    return run


def _padded(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: Sequence[int]
) -> Callable[[], torch.Tensor]:
    """One call over all windows, padded on the right; the padding is made beforehand."""
    q, k, v = (
        torch.nn.utils.rnn.pad_sequence(
            [part.transpose(0, 1) for part in states[0].split(list(lengths), dim=1)],
            batch_first=True,
        ).transpose(1, 2)
        for states in (query, key, value)
    )

    def run() -> torch.Tensor:
        out = scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        rows = zip(out.transpose(1, 2), lengths, strict=True)
        return torch.cat([one[:length] for one, length in rows])

    return run
