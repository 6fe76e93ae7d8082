"""An index, and settings that the frameworks read when they are imported."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from lgmgc import Index
from tests.retrieval.fake import Bag, paragraphs

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"
# Haystack imports it whether or not it may report; scripts/setup leaves it out, so nothing can.
if find_spec("posthog") is None:
    sys.modules["posthog"] = ModuleType("posthog")


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """Three documents of two parents each, found by counting words."""
    index = Index.open(tmp_path / "index.db", Bag(), create=True)
    index.add(
        [
            paragraphs("one.txt", "boat sail", "wind"),
            paragraphs("two.txt", "sail sail rope", "tide rope"),
            paragraphs("three.txt", "sea", "boat boat sea"),
        ]
    )
    return index
