"""Tiny models with random weights and a tiny tokenizer, made here and saved like real ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

SENTENCES = (
    "The ship left the harbour before the sun rose. ",
    "Nobody on the quay had seen the captain come aboard.\n",
    "She had slept below, and she said nothing until noon. ",
    "Then the wind fell, and the sails hung still!\n\n",
    "Bread is made of flour, water, salt and time. ",
    "Time is what most bakers forget. ",
    "A slow dough tastes of grain; a quick one tastes of yeast.",
)
END, TURN, PAD = "<|endoftext|>", "<|im_end|>", "<|pad|>"
VOCABULARY = 320
CONTEXT = 1_024

Save = Callable[[str], Path]


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE of 320 entries; ids 0, 1, 2 are END, TURN, PAD."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END, TURN, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([*SENTENCES, *SENTENCES], trainer)
    assert bpe.get_vocab_size() == VOCABULARY
    return PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token=END, pad_token=PAD)


def make_model(architecture: str, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    """A seeded random model; weights wide enough that its scores differ by whole nats."""
    torch.manual_seed(7)
    common: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": CONTEXT,
        "initializer_range": 0.15,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": 2,
    }
    model: PreTrainedModel
    if architecture == "llama":
        model = LlamaForCausalLM(LlamaConfig(**common, tie_word_embeddings=False))
    elif architecture == "gemma2":  # soft caps on attention and on logits, sliding windows
        model = Gemma2ForCausalLM(
            Gemma2Config(
                **common,
                sliding_window=8,
                query_pre_attn_scalar=16,
                attn_logit_softcapping=5.0,
                final_logit_softcapping=4.0,
            )
        )
    elif architecture == "gemma3":  # a sliding window in the first layer, scaled embeddings
        model = Gemma3ForCausalLM(
            Gemma3TextConfig(
                **common,
                sliding_window=8,
                query_pre_attn_scalar=16,
                layer_types=["sliding_attention", "full_attention"],
            )
        )
    else:
        assert architecture == "gpt2"  # learned positions, no rotary ones
        model = GPT2LMHeadModel(
            GPT2Config(
                vocab_size=VOCABULARY,
                n_embd=64,
                n_layer=2,
                n_head=4,
                n_positions=CONTEXT,
                initializer_range=0.15,
                bos_token_id=None,
                eos_token_id=0,
            )
        )
    torch.nn.Module.to(model, dtype=dtype)
    model.train(False)
    return model


@pytest.fixture(scope="session")
def save(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Save:
    """Give the folder of a tiny model of an architecture, made once."""
    folders: dict[str, Path] = {}

    def folder_of(architecture: str) -> Path:
        if architecture not in folders:
            folder = tmp_path_factory.mktemp("models") / f"tiny-{architecture}"
            make_model(architecture).save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            folders[architecture] = folder
        return folders[architecture]

    return folder_of


@pytest.fixture(scope="session")
def llama(save: Save) -> Path:
    """The folder of the tiny Llama."""
    return save("llama")
