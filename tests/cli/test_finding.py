"""Which embedder opens an index."""

from __future__ import annotations

from pathlib import Path

import pytest

from lgmgc.chunkers.load import ModelChoice
from lgmgc.cli.finding import with_embedder_of
from lgmgc.retrieval import Index
from tests.retrieval.fake import Bag


@pytest.mark.parametrize(
    ("made_with", "asked", "environment", "chosen"),
    [
        ("all-mpnet-base-v2", None, "", "all-mpnet-base-v2"),  # the catalogue's
        ("all-mpnet-base-v2", "folder", "", "folder"),
        ("all-mpnet-base-v2", None, "folder", None),  # which stands for the environment's
        ("folder", None, "", None),
    ],
)
def test_the_embedder_of_an_index(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made_with: str,
    asked: str | None,
    environment: str,
    chosen: str | None,
) -> None:
    monkeypatch.setenv("LGMGC_EMBEDDER", environment)
    bag = Bag()
    bag.name = made_with
    with Index.open(tmp_path / "i.db", bag, create=True) as index:
        pass
    assert with_embedder_of(index, ModelChoice(embedder=asked)).embedder == chosen


def test_no_index_yet() -> None:
    assert with_embedder_of(None, ModelChoice()).embedder is None
