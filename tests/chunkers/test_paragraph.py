from itertools import pairwise

import pytest
from hypothesis import given, settings

from lgmgc.chunkers.lines import paragraph_ends
from lgmgc.chunkers.paragraph import paragraph
from lgmgc.text.table import Limit
from tests.chunkers.cutting import UNITS, Counting, anything, check_laws, limits, prose, run, texts
from tests.fake import TEXTS


@pytest.mark.parametrize(
    ("text", "theta", "chunks"),
    [
        ("", 5, []),
        ("a b.\n\nc.\n \n\nd\ne", 5, ["a b.\n\n", "c.\n \n\n", "d\ne"]),  # never merged
        ("\n\na\r\n\r\nb\r\n", 5, ["\n\na\r\n\r\n", "b\r\n"]),
        # The first is longer than three words: its lines are merged, and only with each other.
        ("a b\nc\nd e.\n\nf", 3, ["a b\nc\n", "d e.\n\n", "f"]),
    ],
)
def test_by_hand(text: str, theta: int, chunks: list[str]) -> None:
    assert texts(text, run(paragraph, text, UNITS["words"](theta))) == chunks


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    check_laws(TEXTS[name], run(paragraph, TEXTS[name], limit), limit)


@given(anything | prose, limits)
@settings(max_examples=200, deadline=None)
def test_laws_and_that_what_fits_is_kept_whole(text: str, limit: Limit) -> None:
    parents = run(paragraph, text, limit)
    check_laws(text, parents, limit)
    made = {(parent.start, parent.end) for parent in parents}
    for start, end in pairwise([0, *paragraph_ends(text).tolist()]):
        assert ((start, end) in made) == limit.fits(text[start:end])
        assert end in {stop for _, stop in made}


@pytest.mark.parametrize("text", ["a b\n\n" * 2_000, "a b c d e f\n\n" * 2_000, "\n" * 5_000])
def test_work_is_linear_in_text(text: str) -> None:
    seen = []
    for part in (text[: len(text) // 4], text):
        count = Counting(UNITS["words"](4))
        run(paragraph, part, count.limit)
        seen.append(count.seen / len(part))
    assert seen[1] == pytest.approx(seen[0], rel=0.01)
    assert seen[1] <= 10
