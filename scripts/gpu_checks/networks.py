"""Networks with random weights, made on the device, in every precision that is at hand."""

from __future__ import annotations

import importlib.util
import logging
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import chain

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedModel

from gpu_checks.device import Bench, free, say
from lgmgc.lm.attention import NAME
from lgmgc.lm.check import can_pack, check_head
from lgmgc.lm.head import Head
from lgmgc.lm.scorer import Scorer
from lgmgc.lm.windows import Encoder

CONTEXT = 8_192

NEEDS = {
    "bf16": "",
    "int8": "bitsandbytes",
    "int4": "bitsandbytes",
    "int8-dynamic": "torchao",
    "fp8-dynamic": "torchao",
    "int8-weights": "torchao",
}
"""The precisions and the library that each needs. int8 is LLM.int8 with its outlier columns, int4 is
nf4 quantised twice, both as lgmgc loads them. The others are torchao's, run without compilation."""


def missing(precision: str) -> str:
    """The library that a precision lacks here; empty where it lacks none."""
    need = NEEDS[precision]
    return need if need and importlib.util.find_spec(need) is None else ""


def build(llama: dict[str, object], device: torch.device) -> PreTrainedModel:
    """A Llama in bf16 whose weights are drawn on the device, never on the CPU first."""
    torch.manual_seed(0)
    last = int(str(llama["vocab_size"])) - 1
    config = LlamaConfig(
        **llama, max_position_embeddings=CONTEXT, bos_token_id=last - 1, eos_token_id=last
    )
    with torch.device(device):
        network: PreTrainedModel = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    network.eval().requires_grad_(False)
    elsewhere = {t.device.type for t in chain(network.parameters(), network.buffers())}
    assert elsewhere == {device.type}, f"weights on {elsewhere}"
    return network


class Networks:
    """The network in use: one at a time, so that each has the card for itself."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._precision = ""
        self._network: PreTrainedModel | None = None

    def get(self, precision: str) -> PreTrainedModel:
        """The network in a precision, built when it is not the one in use."""
        if precision != self._precision or self._network is None:
            self._network, self._precision = None, ""
            free(self._bench.device)
            began = time.perf_counter()
            network = build(self._bench.shape.llama, self._bench.device)
            quantise(network, precision)
            free(self._bench.device)
            say(f"  network in {precision} after {time.perf_counter() - began:.1f} s")
            self._network, self._precision = network, precision
        return self._network


def no_text(texts: Sequence[str]) -> list[list[int]]:
    """The encoder of a scorer that is given tokens."""
    raise NotImplementedError


def scorer_of(
    network: PreTrainedModel,
    *,
    encode: Encoder = no_text,
    prefix: Sequence[int] = (),
    prefix_cache: bool = True,
    packed: bool = True,
) -> Scorer:
    """A scorer as lgmgc's loader makes it, or one that pads.

    Raises:
        RuntimeError: packed attention computes something else than the network's own.
    """
    end = [int(network.config.eos_token_id)]
    head = Head(network.get_output_embeddings(), end)
    network.set_attn_implementation("sdpa")
    check_head(network, head, end)
    if packed and not can_pack(network):
        raise RuntimeError("packed attention does not give what the network's own gives")
    assert (network.config._attn_implementation == NAME) == packed
    return Scorer(network, encode, head, context=CONTEXT, prefix=prefix, prefix_cache=prefix_cache)


def linears(network: PreTrainedModel) -> list[torch.nn.Linear]:
    """The backbone's linear layers, in order."""
    return [m for m in network.base_model.modules() if isinstance(m, torch.nn.Linear)]


def quantise(network: PreTrainedModel, precision: str) -> None:
    """Bring the backbone's linear layers into a precision, in place and on their device.

    Raises:
        ImportError: the library is missing.
    """
    for noisy in ("bitsandbytes", "bitsandbytes.autograd._functions", "torchao"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="bitsandbytes|torchao")
    if precision == "bf16":
        return
    if precision in ("int8", "int4"):
        _replace(network.base_model, _int8 if precision == "int8" else _int4)
    else:
        _by_torchao(network.base_model, precision)


def _replace(
    module: torch.nn.Module, quantised: Callable[[torch.nn.Linear], torch.nn.Module]
) -> None:
    for name, part in module.named_children():
        if isinstance(part, torch.nn.Linear):
            setattr(module, name, quantised(part))
        else:
            _replace(part, quantised)


def _int8(layer: torch.nn.Linear) -> torch.nn.Module:
    import bitsandbytes as bnb

    # `to` quantises only what comes from the CPU, so the weights are quantised here.
    with torch.device("meta"):
        made = bnb.nn.Linear8bitLt(
            layer.in_features, layer.out_features, bias=False, has_fp16_weights=False, threshold=6.0
        )
    rows, scales, _ = bnb.functional.int8_vectorwise_quant(layer.weight.data.to(torch.float16))
    made.weight = bnb.nn.Int8Params(
        rows, requires_grad=False, has_fp16_weights=False, CB=rows, SCB=scales
    )
    return made.eval()


def _int4(layer: torch.nn.Linear) -> torch.nn.Module:
    import bitsandbytes as bnb

    with torch.device("meta"):
        made = bnb.nn.Linear4bit(
            layer.in_features,
            layer.out_features,
            bias=False,
            compute_dtype=torch.bfloat16,
            compress_statistics=True,
            quant_type="nf4",
        )
    weight = bnb.nn.Params4bit(
        layer.weight.data,
        requires_grad=False,
        compress_statistics=True,
        quant_type="nf4",
        module=made,
    )
    made.weight = weight.to(layer.weight.device)
    return made.eval()


def _by_torchao(module: torch.nn.Module, precision: str) -> None:
    import torchao.quantization as ao

    config = {
        "int8-dynamic": lambda: ao.Int8DynamicActivationInt8WeightConfig(),
        "int8-weights": lambda: ao.Int8WeightOnlyConfig(),
        "fp8-dynamic": lambda: ao.Float8DynamicActivationFloat8WeightConfig(
            granularity=ao.PerRow()
        ),
    }[precision]()
    ao.quantize_(module, config)
