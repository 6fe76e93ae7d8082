"""The real small model, as `lgmgc models pull smollm2-135m-instruct` brings it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lgmgc.lm.load import LoadedModel, load_scorer

MODEL = "smollm2-135m-instruct"
SAMPLE = Path(__file__).parents[2] / "samples" / "harbour.md"

Load = Callable[..., LoadedModel]


@pytest.fixture(scope="session")
def load() -> Load:
    """Loads the model, once for every set of options."""
    return cache(lambda **options: load_scorer(MODEL, **options))


@pytest.fixture(scope="session")
def sample() -> str:
    return SAMPLE.read_text(encoding="utf-8")
