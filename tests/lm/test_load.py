import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from bitsandbytes.nn.modules import Linear4bit, Linear8bitLt
from safetensors.torch import load_file, save_file

from lgmgc import LGMGC, ModelError, UsageError
from lgmgc.lm import machine
from lgmgc.lm.load import LoadedModel, load_scorer
from lgmgc.lm.store import sha256_of
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import ScoreArray
from tests.lm.conftest import CONTEXT, END, SENTENCES, TURN


def load(folder: Path, **options: object) -> LoadedModel:
    return load_scorer(str(folder), **{"device": "cpu", "precision": "fp32"} | options)  # type: ignore[arg-type]


def scores(loaded: LoadedModel) -> ScoreArray:
    window = DocumentTokens(SENTENCES, loaded.scorer.encode).window(0, len(SENTENCES))
    [result] = loaded.scorer.score([window])
    return result


def layers(loaded: LoadedModel, kind: type) -> int:
    return sum(type(part) is kind for part in loaded.scorer._backbone.modules())


def test_what_a_manifest_is_told(llama: Path) -> None:
    loaded = load(llama, prompt="The ship", template="raw")
    assert (loaded.name, loaded.device, loaded.precision) == ("tiny-llama", "cpu", "fp32")
    assert (loaded.eos, loaded.prompt, loaded.template) == ([(0, END)], "The ship", "raw")
    assert loaded.source == llama
    assert loaded.weights_sha256() == sha256_of(llama / "model.safetensors")
    assert loaded.scorer.prefix_length == len(loaded.scorer.encode(["The ship"])[0])
    assert loaded.scorer.context == CONTEXT - loaded.scorer.prefix_length
    assert loaded.scorer.packed


@pytest.mark.parametrize(
    ("architecture", "packed"), [("gemma2", False), ("gemma3", True), ("gpt2", True)]
)
def test_other_architectures(
    architecture: str, packed: bool, request: pytest.FixtureRequest
) -> None:
    loaded = load(request.getfixturevalue("save")(architecture))
    assert loaded.scorer.packed == packed
    assert np.isfinite(scores(loaded)).all()


# The largest difference of seven scores that spread over 2.4 nats; measured 0.05, 0.10, 1.03.
@pytest.mark.parametrize(
    ("precision", "kind", "tolerance"),
    [
        ("bf16", torch.nn.Linear, 0.2),
        ("int8", Linear8bitLt, 0.4),
        ("int4", Linear4bit, 2.0),
    ],
)
def test_lower_precisions_for_real(
    precision: str, kind: type, tolerance: float, llama: Path
) -> None:
    reference = scores(load(llama))
    loaded = load(llama, precision=precision)
    assert loaded.precision == precision
    if precision != "bf16":
        assert layers(loaded, kind) == 14  # seven products in each of two layers
    ours = scores(loaded)
    assert np.abs(ours - reference).max() < tolerance
    assert ours.tobytes() != reference.tobytes()


def test_int8_is_quiet(llama: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scores(load(llama, precision="int8"))
    assert capfd.readouterr() == ("", "")


def test_auto_is_what_the_machine_is_best_at(llama: Path) -> None:
    loaded = load_scorer(str(llama))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    assert loaded.device == device
    assert loaded.precision == machine.choose_precision("auto", device) != "auto"


def test_the_text_chosen_as_prefix_is_shared_or_read_again(llama: Path) -> None:
    one = scores(load(llama, prompt="A slow dough tastes of grain. "))
    two = scores(load(llama, prompt="A slow dough tastes of grain. ", prefix_cache=False))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-4)
    assert np.abs(one - scores(load(llama))).max() > 0.01


def test_attention_that_plans_for_every_length_is_off(llama: Path) -> None:
    torch.backends.cuda.enable_cudnn_sdp(True)
    load(llama)
    assert not torch.backends.cuda.cudnn_sdp_enabled()


def test_eos_tokens_add_up(llama: Path) -> None:
    each = [scores(load(llama, eos=[token])) for token in (END, TURN)]
    both = load(llama, eos=[TURN, "0"])
    assert both.eos == [(0, END), (1, TURN)]
    np.testing.assert_allclose(np.exp(scores(both)), sum(map(np.exp, each)), rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eos": ["zebra"]}, "'zebra' is not one token of this model"),
        ({"eos": ["320"]}, "outside the vocabulary of 320"),
        ({"template": "chat"}, "no chat template"),
        ({"template": "poem"}, "template 'poem' is none of"),
        ({"device": "tpu"}, "device 'tpu' is none of auto, cuda, cpu"),
        ({"precision": "int3"}, "precision 'int3' is none of auto, int8, int4, bf16, fp32"),
        ({"prompt": "x y " * CONTEXT}, f"the model's context only {CONTEXT}"),
    ],
)
def test_what_cannot_be(options: dict[str, object], message: str, llama: Path) -> None:
    with pytest.raises(ModelError) as error:
        load(llama, **options)
    assert message in str(error.value)


def test_a_gpu_that_is_not_there(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="no CUDA GPU is usable"):
        load(llama, device="cuda")
    assert machine.choose_device("auto") == "cpu"


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_bitsandbytes_that_is_not_there(
    precision: str, llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)  # as Python marks what it cannot import
    with pytest.raises(ModelError, match=rf"precision {precision} needs bitsandbytes: .*pip"):
        load(llama, precision=precision)
    assert machine.choose_precision("auto", "cuda") == "bf16"


def test_auto_on_cuda_is_eight_bits() -> None:
    assert machine.choose_precision("auto", "cuda") == "int8"


def copy_of(folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(folder, tmp_path / "copy")


def test_damaged_weights(llama: Path, tmp_path: Path) -> None:
    folder = copy_of(llama, tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load(folder)


def test_an_architecture_of_the_folders_own_code_is_refused(llama: Path, tmp_path: Path) -> None:
    folder = copy_of(llama, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoModelForCausalLM": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("raise SystemExit('code of the folder was run')\n")
    with pytest.raises(ModelError):
        load(folder)


def test_pickled_weights_beside_safe_ones_are_not_opened(llama: Path, tmp_path: Path) -> None:
    folder = copy_of(llama, tmp_path)
    (folder / "pytorch_model.bin").write_bytes(b"not even a pickle")
    assert np.isfinite(scores(load(folder))).all()


def test_the_sum_of_weights_in_several_files(llama: Path, tmp_path: Path) -> None:
    folder = copy_of(llama, tmp_path)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    files = {
        "model-00001-of-00002.safetensors": names[:9],
        "model-00002-of-00002.safetensors": names[9:],
    }
    for file, held in files.items():
        save_file({name: weights[name] for name in held}, folder / file, {"format": "pt"})
    index = {name: file for file, held in files.items() for name in held}
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": index})
    )
    loaded = load(folder)
    lines = "".join(
        f"{hashlib.sha256((folder / file).read_bytes()).hexdigest()}  {file}\n" for file in files
    )
    assert loaded.weights_sha256() == hashlib.sha256(lines.encode()).hexdigest()
    assert scores(loaded).tobytes() == scores(load(llama)).tobytes()


def test_from_pretrained_end_to_end(llama: Path) -> None:
    text = "".join(SENTENCES)
    chunker = LGMGC.from_pretrained(str(llama), theta=30, device="cpu", precision="fp32")
    tree = chunker.chunk(text)
    assert "".join(parent.text for parent in tree.parents) == text
    assert all(parent.words <= 30 for parent in tree.parents)
    assert len(tree.parents) > 1
    assert all(parent.score is not None for parent in tree.parents[:-1])


def test_theta_in_tokens_beyond_the_context(llama: Path) -> None:
    with pytest.raises(UsageError, match=f"holds {CONTEXT}; that is the largest θ that fits"):
        LGMGC.from_pretrained(str(llama), theta=CONTEXT + 1, unit="tokens", device="cpu")
