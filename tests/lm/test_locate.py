import json
import shutil
from pathlib import Path

import pytest

from lgmgc.errors import ModelError
from lgmgc.lm.catalogue import DEFAULT_MODEL
from lgmgc.lm.locate import locate

SMOL = "smollm2-135m-instruct"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LGMGC_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)


def refusal(model: str | None, cache: Path) -> str:
    with pytest.raises(ModelError) as error:
        locate(model, cache)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_model_folder(llama: Path, tmp_path: Path) -> None:
    located = locate(str(llama), tmp_path)
    assert (located.name, located.folder, located.source) == ("tiny-llama", llama, llama)
    assert located.entry is None


def test_the_environment_names_the_model(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LGMGC_MODEL", str(llama))
    assert locate(None, tmp_path).folder == llama
    assert "'elsewhere'" in refusal("elsewhere", tmp_path)  # what is asked for goes first


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").touch()
    assert "holds no config.json" in refusal(str(folder), tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", None])
def test_pickled_weights_are_refused(name: str | None, llama: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(llama / "config.json", folder)
    if name is not None:
        (folder / name).write_bytes(b"\x80\x04")
    message = refusal(str(folder), tmp_path)
    assert "holds no .safetensors weights" in message
    assert "save_pretrained" in message


def test_an_unknown_name_says_what_there_is(tmp_path: Path) -> None:
    message = refusal("nonesuch", tmp_path)
    assert message.startswith("no model 'nonesuch': it is no folder, no .gguf file")
    assert SMOL in message
    assert "all-minilm" not in message  # embedders do not chunk


def test_an_embedder_is_refused(tmp_path: Path) -> None:
    assert "is an embedder" in refusal("all-minilm-l6-v2", tmp_path)


@pytest.mark.parametrize("asked", [None, SMOL])
def test_a_catalogue_model_that_is_absent_says_how_to_pull_it(
    asked: str | None, tmp_path: Path
) -> None:
    assert DEFAULT_MODEL == SMOL
    assert f"lgmgc models pull {SMOL}" in refusal(asked, tmp_path / "cache")


def test_a_hub_id_that_is_not_in_the_local_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    # pytest-socket would raise if this asked the network.
    message = refusal("someone/some-model", tmp_path)
    assert "no model 'someone/some-model'" in message
    assert "not in the local Hugging Face cache" in message


def test_a_hub_id_in_the_local_cache(
    llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = hub / "models--someone--tiny"
    shutil.copytree(llama, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    located = locate("someone/tiny", tmp_path)
    assert located.name == "someone/tiny"
    assert json.loads((located.folder / "config.json").read_text())["model_type"] == "llama"


def test_a_file_that_is_no_gguf(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"PK\x03\x04 something else")
    assert "is not a GGUF file" in refusal(str(file), tmp_path / "cache")
