"""What is told apart: whatever decides cuts, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.options import Options
from lgmgc.errors import ModelError
from lgmgc.retrieval.configuration import configuration_of, configuration_of_tree


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_a_method_without_models_looks_for_none() -> None:
    absent = ModelChoice(model="absent", prompt="ρ")
    mg = configuration_of(Settings("mg", 40), absent, "e1")
    assert mg == configuration_of(Settings("mg", 40), ModelChoice(), "e2")
    assert json.loads(mg) == Settings("mg", 40).configuration
    assert mg != configuration_of(Settings("mg", 41), ModelChoice())
    with pytest.raises(ModelError, match="absent"):
        configuration_of(Settings("mg", 40, "tokens"), absent)


def test_what_a_model_decides(model: Path) -> None:
    choice = ModelChoice(str(model), device="cpu", precision="fp32")
    first = configuration_of(Settings(), choice)
    same: dict[str, Any]
    other: dict[str, Any]
    for same in ({"batch_tokens": 9}, {"embedder": "other"}, {"eos": []}):
        assert configuration_of(Settings(), replace(choice, **same)) == first
    for other in ({"prompt": "ρ"}, {"template": "chat"}, {"eos": ["x"]}, {"precision": "bf16"}):
        assert configuration_of(Settings(), replace(choice, **other)) != first
    moved = model.rename(model.with_name("elsewhere"))
    choice = replace(choice, model=str(moved))
    assert configuration_of(Settings(), choice) == first
    (moved / "model.safetensors").write_bytes(b"others")
    assert configuration_of(Settings(), choice) != first


def test_what_an_embedder_decides() -> None:
    one, two = (configuration_of(Settings("semantic"), ModelChoice(), name) for name in ("1", "2"))
    assert one != two


def test_what_a_file_of_boundaries_says_decides(tmp_path: Path) -> None:
    def configuration(name: str, end: int) -> str:
        path = tmp_path / name
        path.write_text(json.dumps({"document": "a", "start": 0, "end": end}))
        return configuration_of(Settings("manual", options=Options(boundaries=path)), ModelChoice())

    assert configuration("a.jsonl", 5) == configuration("b.jsonl", 5) != configuration("a.jsonl", 6)


def test_of_a_tree() -> None:
    one, same, other = (Chunker(Settings("mg", n)).chunk("One. Two. Three.") for n in (4, 4, 8))
    assert configuration_of_tree(one) == configuration_of_tree(same) != configuration_of_tree(other)
