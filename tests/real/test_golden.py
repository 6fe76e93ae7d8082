"""Where every method cuts one short text with the real small models, as reviewed by eye.

``LGMGC_GOLDEN=write pytest tests/real/test_golden.py`` writes them anew: look at the difference.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from lgmgc import Chunker, Options, Settings, Tree
from lgmgc.chunkers.methods import METHODS
from lgmgc.lm.embedder import Embedder, load_embedder
from lgmgc.lm.writer import Writer, writer_of
from tests.real.conftest import Load

GOLDEN = Path(__file__).parent / "golden"
TEXT = (GOLDEN / "sample.md").read_text(encoding="utf-8")
CUT = "‖"

# The small model writes a token in a tenth of a second: proposition gets the first paragraph only.
WAYS: dict[str, tuple[str, Options, str]] = {
    **{name: (name, Options(), TEXT) for name in METHODS if name not in ("manual", "proposition")},
    "manual": ("manual", Options(marker="## The loaf"), TEXT),
    "lg-topic": ("lg", Options(signal="topic"), TEXT),
    "global-surprise+topic": ("global", Options(signal="surprise+topic"), TEXT),
    "lumber-logits": ("lumber", Options(reader="logits"), TEXT),
    "proposition": ("proposition", Options(), TEXT.split("\n\n")[1]),
}


@cache
def writer(load: Load) -> Writer:
    return writer_of(load(precision="fp32"))


@cache
def embedder() -> Embedder:
    return load_embedder()


def shown(tree: Tree) -> str:
    """The text with every parent's end marked, then its views."""
    text = CUT.join(parent.text for parent in tree.parents)
    views = [f"{c.start}-{c.end} {c.view}" for c in tree if c.view is not None]
    return "\n".join([text, *views])


@pytest.mark.parametrize("way", WAYS)
def test_cuts(way: str, load: Load) -> None:
    method, options, text = WAYS[way]
    scorer = load(precision="fp32").scorer
    chunker = Chunker(
        Settings(method, 60, options=options),
        scorer,
        writer=writer(load),
        embedder=embedder(),
    )
    made = shown(chunker.chunk(text))
    path = GOLDEN / f"{way}.txt"
    if os.environ.get("LGMGC_GOLDEN") == "write":
        path.write_text(made, encoding="utf-8")
    assert made == path.read_text(encoding="utf-8")
