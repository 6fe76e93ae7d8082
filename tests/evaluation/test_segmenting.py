import pytest

from lgmgc.document import Document
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.segmenting import segmentation_of
from tests.evaluation.made import tree

NAMES = ("Pk", "WindowDiff", "F1", "boundaries per gold one")
TEXT = Document("d", "aaa bbb ccc ddd ")  # units end at 4, 8, 12 and 16
GOLD = Benchmark(
    "own", "t", (TEXT,), boundaries={"d": ((0, 8), (8, 16))}, units={"d": (4, 8, 12, 16)}
)  # fmt: skip


@pytest.mark.parametrize(
    ("cuts", "wanted"),
    [
        # Gold ends after unit 2. Segments have 2 units, so that units 1 and 3, 2 and 4 are looked
        # at: gold has one boundary between each two.
        ((8, 16), (0, 0, 1, 1)),
        ((16,), (1, 1, 0, 0)),
        # After unit 1: none between 2 and 4.
        ((4, 16), (0.5, 0.5, 0, 1)),
        # After 1 and 2: two between 1 and 3. Precision 1/2, recall 1.
        ((4, 8, 16), (0, 0.5, 2 / 3, 2)),
        # After all: two between each. Precision 1/3, recall 1.
        ((4, 8, 12, 16), (0, 1, 0.5, 3)),
        # Within units: 7 is nearest to 8, and so is 9; they are one boundary.
        ((7, 9, 16), (0, 0, 1, 1)),
        # As near to 8 as to 12: the later one. One between 2 and 4, none between 1 and 3.
        ((10, 16), (0.5, 0.5, 0, 1)),
        # Within the first unit it is at its end, within the last at the end of the text, where
        # every segmentation has one.
        ((1, 15, 16), (0.5, 0.5, 0, 1)),
    ],
)
def test_by_hand(cuts: tuple[int, ...], wanted: tuple[float, ...]) -> None:
    found = segmentation_of(GOLD, tree(TEXT, *cuts))
    assert found == pytest.approx(dict(zip(NAMES, wanted, strict=True)))


def test_one_unit_has_no_place_for_a_boundary() -> None:
    gold = Benchmark("own", "t", (TEXT,), boundaries={"d": ((0, 16),)}, units={"d": (16,)})
    found = segmentation_of(gold, tree(TEXT, 5, 16))
    assert found == pytest.approx(
        dict(zip(NAMES, (float("nan"), float("nan"), 0, 0), strict=True)), nan_ok=True
    )
