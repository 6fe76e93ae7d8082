from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    FalconH1Config,
    FalconH1ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
)

from lgmgc.lm.onednn import GatedMLP, OneDnnLinear, lay_out, multiplies

DTYPES = [torch.float32, torch.bfloat16]
SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
}


@pytest.fixture(autouse=True)
def needs_onednn() -> None:
    if not multiplies(torch.device("cpu"), torch.float32):
        pytest.skip("this torch has no oneDNN")


def close(made: torch.Tensor, plain: torch.Tensor) -> None:
    assert made.dtype == plain.dtype
    tolerance = 1e-5 if made.dtype == torch.float32 else 0.03
    torch.testing.assert_close(made, plain, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 7, 600])
@torch.inference_mode()
def test_a_layer_is_the_plain_one(rows: int, bias: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    plain = torch.nn.Linear(48, 80, bias=bias, dtype=dtype)
    layer = OneDnnLinear(plain.weight, plain.bias)
    assert (layer.in_features, layer.out_features) == (48, 80)
    input = torch.randn(1, rows, 48).to(dtype)
    close(layer(input), plain(input))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("activation", ["silu", "swish", "gelu", "gelu_pytorch_tanh"])
@torch.inference_mode()
def test_a_gated_mlp_is_the_plain_one(activation: str, dtype: torch.dtype) -> None:
    torch.manual_seed(2)
    config = LlamaConfig(**SMALL, hidden_act=activation)
    model = LlamaForCausalLM(config).model.to(dtype)
    mlp = model.layers[1].mlp
    input = torch.randn(1, 70, 64).to(dtype)
    plain = mlp(input)
    lay_out(model)
    assert type(model.layers[1].mlp) is GatedMLP
    close(model.layers[1].mlp(input), plain)


def test_what_is_not_known_stays_as_it_is() -> None:
    class Quantised(torch.nn.Linear):
        pass

    relu = LlamaForCausalLM(LlamaConfig(**SMALL, hidden_act="relu"))
    relu.model.layers[0].self_attn.o_proj = Quantised(64, 64)
    lay_out(relu)
    assert type(relu.model.layers[0].mlp).__name__ == "LlamaMLP"
    assert type(relu.model.layers[0].mlp.up_proj) is OneDnnLinear
    assert type(relu.model.layers[0].self_attn.o_proj) is Quantised
    half = torch.nn.Sequential(torch.nn.Linear(4, 4, dtype=torch.float16))
    lay_out(half)
    assert type(half[0]) is torch.nn.Linear


@pytest.mark.parametrize(
    "model",
    [
        LlamaForCausalLM(LlamaConfig(**SMALL)),
        Gemma3ForCausalLM(Gemma3TextConfig(**SMALL, head_dim=16)),
        Phi3ForCausalLM(Phi3Config(**SMALL, pad_token_id=0)),  # its gate and up are one layer
        FalconH1ForCausalLM(  # its MLP has Llama's parts, and multiplies what they give
            FalconH1Config(
                **SMALL,
                mamba_d_ssm=64,
                mamba_n_heads=4,
                mamba_d_state=8,
                mlp_multipliers=[0.5, 0.7],
            )
        ),
        BertModel(BertConfig(**{**SMALL, "num_key_value_heads": 4})),
    ],
    ids=lambda model: type(model).__name__,
)
@torch.inference_mode()
def test_a_model_computes_the_same(model: torch.nn.Module) -> None:
    model.eval()
    ids = torch.arange(3, 60)[None]
    plain = model(input_ids=ids)[0]
    lay_out(model)
    assert not any(type(part) is torch.nn.Linear for part in model.modules())
    kinds = {type(part).__name__ for part in model.modules()}
    assert ("GatedMLP" in kinds) == (type(model) in (LlamaForCausalLM, Gemma3ForCausalLM))
    close(model(input_ids=ids)[0], plain)
