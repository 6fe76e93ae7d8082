"""Checks at loading: does what lgmgc computes equal what the model itself computes?

Architectures differ in what they do around the parts that lgmgc calls, and new ones appear; two
short passes tell, and no list of names has to be kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from lgmgc.errors import ModelError
from lgmgc.lm.attention import NAME, Packing
from lgmgc.lm.head import Head
from lgmgc.lm.layout import packed

_LENGTHS = (23, 9, 14)
_HEAD_TOLERANCE = 0.25
"""Nats: bf16 rounds a logit of 32 by up to 1/8; a missing scale or cap shows as more."""
_PACK_TOLERANCE = 0.25
"""Share of the hidden states' norm. Seen on the two catalogue models: 0.00 in fp32, 0.02 in bf16,
0.09 and 0.15 in int8, whose rounding depends on the batch; a leak between windows: 0.38 to 0.58."""


@torch.inference_mode()
def check_head(model: PreTrainedModel, head: Head, eos: Sequence[int]) -> None:
    """Compare boundary scores with those of the model's own full logits.

    Raises:
        ModelError: they differ: the architecture changes its logits in a way not known here.
    """
    [ids, *_] = _samples(model)
    logits = model(ids, use_cache=False).logits[0].float()
    whole = logits[:, list(eos)].logsumexp(-1) - logits.logsumexp(-1)
    ours = head(model.base_model(ids, use_cache=False).last_hidden_state[0])
    if not torch.allclose(ours.to(whole.device), whole, rtol=0.02, atol=_HEAD_TOLERANCE):
        raise ModelError(
            f"{type(model).__name__} treats its logits in a way that lgmgc does not know; "
            "please choose another model, and report this one"
        )


@torch.inference_mode()
def can_pack(model: PreTrainedModel) -> bool:
    """Switch a model to packed attention, and say whether its hidden states stay what they were."""
    samples = _samples(model)
    alone = torch.cat(
        [model.base_model(ids, use_cache=False).last_hidden_state for ids in samples], 1
    )
    layout = packed([ids[0].cpu().numpy() for ids in samples], grain=1)
    device = samples[0].device
    try:
        model.set_attn_implementation(NAME)
        together = model.base_model(
            input_ids=torch.from_numpy(layout.ids).to(device),
            position_ids=torch.from_numpy(layout.positions).to(device),
            use_cache=False,
            packing=Packing(layout.lengths),
        ).last_hidden_state
    except Exception:  # an architecture may refuse in any way; it is then run padded
        return False
    return bool((together - alone).norm() < _PACK_TOLERANCE * alone.norm())


def _samples(model: PreTrainedModel) -> list[torch.Tensor]:
    """Three windows of arbitrary tokens, each of shape (1, length)."""
    embedded = model.get_input_embeddings().weight
    assert isinstance(embedded, torch.Tensor)
    random = np.random.default_rng(0)
    return [
        torch.from_numpy(random.integers(0, len(embedded), (1, length))).to(embedded.device)
        for length in _LENGTHS
    ]
