import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGUFWriter
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from lgmgc.errors import ModelError
from lgmgc.lm.gguf import dequantised
from lgmgc.lm.load import load_scorer
from lgmgc.lm.store import sha256_of
from lgmgc.lm.tokens import DocumentTokens
from tests.lm.conftest import CONTEXT, END, PAD, SENTENCES, TURN, VOCABULARY, make_model


def by_halves(weight: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """GGUF's order of the rows of Llama's query and key weights (llama.cpp, convert_hf_to_gguf)."""
    shape = weight.shape
    return weight.reshape(heads, 2, shape[0] // heads // 2, shape[1]).swapaxes(1, 2).reshape(shape)


@pytest.fixture(scope="module")
def gguf(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Llama as a GGUF file in float32."""
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(64)
    writer.add_block_count(2)
    writer.add_feed_forward_length(128)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(16)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    tokens: Sequence[str] = tokenizer.convert_ids_to_tokens(list(range(VOCABULARY)))
    writer.add_token_list(list(tokens))
    writer.add_token_types([3 if token in (END, TURN, PAD) else 1 for token in tokens])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(0)
    writer.add_bos_token_id(0)
    writer.add_add_bos_token(False)
    names = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
    }
    for name, tensor in make_model("llama").state_dict().items():
        weight = tensor.numpy()
        if "q_proj" in name or "k_proj" in name:
            weight = by_halves(weight, 4 if "q_proj" in name else 2)
        for ours, theirs in names.items():
            name = name.replace(ours, theirs)
        writer.add_tensor(name.replace("model.layers", "blk"), np.ascontiguousarray(weight))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def test_the_weights_are_those_that_were_written(gguf: Path, cache: Path) -> None:
    folder = dequantised(gguf, cache)
    assert folder == cache / "dequantised" / sha256_of(gguf)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    expected = make_model("llama").state_dict()
    weights = model.state_dict()
    assert set(weights) == set(expected)
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_gguf_file_scores_like_its_folder(gguf: Path, cache: Path, llama: Path) -> None:
    one = load_scorer(str(gguf), cache=cache, device="cpu", precision="fp32")
    two = load_scorer(str(llama), cache=cache, device="cpu", precision="fp32")
    assert (one.name, one.source) == ("tiny.gguf", gguf)
    assert one.eos == two.eos == [(0, END)]
    assert one.weights_sha256() == sha256_of(gguf)
    windows = [DocumentTokens(SENTENCES, each.scorer.encode).window(0, 7) for each in (one, two)]
    assert windows[0].ids.tolist() == windows[1].ids.tolist()
    np.testing.assert_allclose(
        one.scorer.score(windows[:1])[0], two.scorer.score(windows[1:])[0], rtol=0, atol=1e-4
    )


def test_it_is_dequantised_once(gguf: Path, cache: Path) -> None:
    folder = dequantised(gguf, cache)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    copy = cache / "another name.gguf"
    shutil.copy(gguf, copy)
    assert dequantised(copy, cache) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"GG", b"not a model at all", b"FUGG" * 100])
def test_what_is_no_gguf(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelError) as error:
        dequantised(file, tmp_path / "cache")
    assert str(error.value) == (f"{file} is not a GGUF file; give a .gguf file or a model folder")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("share", [0.00005, 0.01, 0.1, 0.5, 0.95])
def test_a_truncated_gguf_leaves_nothing(share: float, gguf: Path, tmp_path: Path) -> None:
    content = gguf.read_bytes()
    file = tmp_path / "model.gguf"
    file.write_bytes(content[: max(20, int(share * len(content)))])
    with pytest.raises(ModelError) as error:
        dequantised(file, tmp_path / "cache")
    assert str(error.value).startswith(f"{file} is damaged or of an unknown architecture (")
    assert "\n" not in str(error.value)
    assert list((tmp_path / "cache" / "dequantised").iterdir()) == []


def test_a_cache_that_cannot_be_written(gguf: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("a file, not a folder")
    with pytest.raises(ModelError, match="cannot be dequantised into"):
        dequantised(gguf, blocked)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        sha256_of(tmp_path / "absent.gguf")


def test_sha256_by_the_standards_example(tmp_path: Path) -> None:
    # `printf abc | sha256sum`, FIPS 180-2.
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256_of(tmp_path / "abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
