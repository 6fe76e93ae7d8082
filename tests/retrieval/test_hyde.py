"""HyDE: which texts are embedded, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lgmgc.retrieval import Index
from lgmgc.retrieval.embedding import Rows
from lgmgc.retrieval.hyde import Hyde

from .fake import Plane, paragraphs


class Asymmetric(Plane):
    """Looks queries up under another name, as models with prefixes do."""

    def queries(self, texts: Sequence[str]) -> Rows:
        return self.passages([f"query: {text}" for text in texts])


class Scripted:
    """Writes what it was told to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[tuple[str, int]] = []

    def write(self, instruction: str, most: int) -> str:
        self.asked.append((instruction, most))
        return self.text


PLANE = {
    "query: who?": (1.0, 0.0),
    "The cook.": (0.0, 1.0),
    "ox\n": (0.9, 0.1),
    "hen\n": (0.1, 0.9),
}


@pytest.mark.parametrize(
    ("written", "average", "row"),
    [
        ("\n The cook. ", False, (0.0, 1.0)),
        ("The cook.", True, (0.5, 0.5)),
        (" \n", False, (1.0, 0.0)),
        ("", True, (1.0, 0.0)),
    ],
)
def test_rows(written: str, average: bool, row: tuple[float, float]) -> None:
    writer = Scripted(written)
    hyde = Hyde(writer, Asymmetric(PLANE), average=average, most=9)
    np.testing.assert_array_equal(hyde.vector("who?"), np.array(row, np.float32))
    [(instruction, most)] = writer.asked
    assert instruction.endswith("Question: who?")
    assert most == 9


def test_a_question_may_hold_anything() -> None:
    hyde = Hyde(Scripted("The cook."), Asymmetric(PLANE))
    assert hyde.passage("{question} {0} }{ %s") == "The cook."


def test_what_is_found(tmp_path: Path) -> None:
    plane = Asymmetric(PLANE)
    with Index.open(tmp_path / "i.db", plane, create=True) as index:
        index.add([paragraphs("d", "ox", "hen")])
        plain = index.search("who?")
        found = index.search("who?", vector=Hyde(Scripted("The cook."), plane).vector("who?"))
    assert [hit.parent.text for hit in plain] == ["ox\n", "hen\n"]
    assert [hit.parent.text for hit in found] == ["hen\n", "ox\n"]
