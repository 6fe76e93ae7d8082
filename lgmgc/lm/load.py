"""Loading a model: found, opened in the right precision, checked, ready to score."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from lgmgc.errors import ModelError
from lgmgc.lm.check import can_pack, check_head
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.eos import resolve_eos
from lgmgc.lm.head import Head
from lgmgc.lm.locate import Located, locate
from lgmgc.lm.machine import avoid_plans, choose_batch, choose_device, choose_precision
from lgmgc.lm.prompt import prefix_ids
from lgmgc.lm.quiet import quiet
from lgmgc.lm.scorer import Scorer
from lgmgc.lm.store import default_cache, sha256_of
from lgmgc.lm.tokenizer import load_tokenizer


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A scorer and what a manifest says of it.

    Attributes:
        scorer: ready to score.
        network: what the scorer runs; a `lgmgc.lm.writer.Writer` may run it too.
        tokenizer: the model's.
        name: of the model.
        device: ``cuda`` or ``cpu``.
        precision: what is in use, never ``auto``.
        eos: the [EOS] ids with their texts.
        prompt: ρ as it was given.
        template: ``raw`` or ``chat``.
        batch_tokens: a batch size to begin with.
        source: the folder or GGUF file.
    """

    scorer: Scorer
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    name: str
    device: str
    precision: str
    eos: list[tuple[int, str]]
    prompt: str
    template: str
    batch_tokens: int
    source: Path

    def weights_sha256(self) -> str:
        """The weights' sha256: of the GGUF file or the only safetensors file.

        Of several safetensors files, the sha256 of the lines that ``sha256sum`` prints for them in
        order of their names. Reads every byte: about a second a gigabyte.
        """
        if self.source.is_file():
            return sha256_of(self.source)
        files = sorted(self.source.glob("*.safetensors"))
        sums = [sha256_of(file) for file in files]
        if len(sums) == 1:
            return sums[0]
        lines = "".join(f"{s}  {f.name}\n" for s, f in zip(sums, files, strict=True))
        return hashlib.sha256(lines.encode()).hexdigest()


def load_scorer(
    model: str | Located | None = None,
    *,
    cache: Path | None = None,
    prompt: str = "",
    template: str = "raw",
    eos: Sequence[str] = (),
    device: str = "auto",
    precision: str = "auto",
    prefix_cache: bool = True,
) -> LoadedModel:
    """Load a causal language model from this machine's disk.

    Args:
        model: see `lgmgc.lm.locate.locate`, or what it found.
        cache: where models are kept; None for the default.
        prompt: ρ.
        template: ``raw`` or ``chat``, see `lgmgc.lm.prompt`.
        eos: tokens, see `lgmgc.lm.eos`; empty for the model's own.
        device: ``auto``, ``cuda`` or ``cpu``.
        precision: ``auto``, ``int8``, ``int4``, ``bf16`` or ``fp32``.
        prefix_cache: whether ρ's keys and values are shared.

    Raises:
        ModelError: one sentence that says what is wrong and how to mend it.
    """
    device = choose_device(device)
    precision = choose_precision(precision, device)
    located = model if isinstance(model, Located) else locate(model, cache or default_cache())
    with quiet():
        tokenizer = load_tokenizer(located.folder)
        prefix = prefix_ids(prompt, template, tokenizer)
        network = open_network(located, device, precision)
        end_ids = resolve_eos(eos, tokenizer, configured_eos(network), template)
        encode = FastEncoder(tokenizer.backend_tokenizer)
        config = network.config.get_text_config()
        scale = getattr(config, "logit_scale", 1.0) / getattr(config, "logits_scaling", 1.0)
        cap = getattr(config, "final_logit_softcapping", None) or 0.0
        layer = network.get_output_embeddings()
        if layer is None:
            raise ModelError(f"{located.name} has no output layer to read p([EOS]) from")
        head = Head(layer, end_ids, scale=scale, cap=cap)
        check_head(network, head, end_ids)
        own = network.config._attn_implementation
        if not can_pack(network):
            network.set_attn_implementation(own)
    context = positions(network)
    if context - len(prefix) < 1:
        raise ModelError(f"ρ has {len(prefix)} tokens, the model's context only {context}")
    scorer = Scorer(
        network, encode, head, context=context, prefix=prefix, prefix_cache=prefix_cache
    )
    return LoadedModel(
        scorer=scorer,
        network=network,
        tokenizer=tokenizer,
        name=located.name,
        device=device,
        precision=precision,
        eos=[(k, str(tokenizer.convert_ids_to_tokens(k))) for k in end_ids],
        prompt=prompt,
        template=template,
        batch_tokens=choose_batch(device),
        source=located.source,
    )


def open_network(
    located: Located, device: str, precision: str, kind: Any = AutoModelForCausalLM
) -> PreTrainedModel:
    """A model in evaluation mode, its weights in memory.

    Args:
        located: where it is.
        device: ``cuda`` or ``cpu``.
        precision: ``int8``, ``int4``, ``bf16`` or ``fp32``.
        kind: which of transformers' Auto classes opens it.

    Raises:
        ModelError: it does not fit, or is damaged.
    """
    options: dict[str, Any] = {"device_map": "auto" if device == "cuda" else {"": "cpu"}}
    avoid_plans()
    if precision == "int8":
        # bitsandbytes says at every product of every pass that it casts bf16.
        logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
        options["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    elif precision == "int4":
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    try:
        model: PreTrainedModel = kind.from_pretrained(
            str(located.folder),
            dtype=torch.float32 if precision == "fp32" else torch.bfloat16,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            **options,
        )
    except torch.OutOfMemoryError:
        raise ModelError(
            f"{located.name} in {precision} does not fit in the GPU's memory; "
            "choose --precision int4 or a smaller model"
        ) from None
    except Exception as error:
        # Whatever transformers, accelerate or safetensors stumble over in a damaged folder.
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{located.source} cannot be loaded ({reason})") from error
    model.eval()
    return model


def configured_eos(model: PreTrainedModel) -> list[int]:
    """The end tokens that a model's configuration names, in rising order."""
    ids: set[int] = set()
    for config in (model.config, model.config.get_text_config(), model.generation_config):
        value = getattr(config, "eos_token_id", None)
        ids |= {value} if isinstance(value, int) else set(value or ())
    return sorted(ids)


def positions(model: PreTrainedModel) -> int:
    """How many tokens a model can hold at once; 4,096 where its configuration does not say."""
    config = model.config.get_text_config()
    names = ("max_position_embeddings", "n_positions")
    return next((size for name in names if (size := getattr(config, name, None))), 4_096)
