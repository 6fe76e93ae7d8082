from itertools import pairwise

import pytest
from hypothesis import given, settings

from lgmgc.chunkers.sentence_packing import sentence_packing
from lgmgc.text.table import Limit
from tests.chunkers.cutting import UNITS, anything, check_laws, limits, prose, run, table, texts
from tests.fake import TEXTS

TEXT = "Ann ran off. Bob slept. Cid ate all of it. Dan had money. Eve."


@pytest.mark.parametrize(
    ("unit", "theta", "chunks"),
    [
        # 3 and 2 words, 5, 3 and 1
        ("words", 5, [TEXT[:24], TEXT[24:43], TEXT[43:]]),
        # The sentence of five is divided, and its rest packed like a sentence.
        ("words", 4, [TEXT[:13], TEXT[13:24], "Cid ate all of ", "it. Dan had money. ", "Eve."]),
        ("words", 99, [TEXT]),
        ("characters", 24, [TEXT[:24], TEXT[24:43], TEXT[43:]]),
    ],
)
def test_by_hand(unit: str, theta: int, chunks: list[str]) -> None:
    assert texts(TEXT, run(sentence_packing, TEXT, UNITS[unit](theta))) == chunks


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    check_laws(TEXTS[name], run(sentence_packing, TEXTS[name], limit), limit)


@given(anything | prose, limits)
@settings(max_examples=200, deadline=None)
def test_laws_and_that_no_further_sentence_would_fit(text: str, limit: Limit) -> None:
    parents = run(sentence_packing, text, limit)
    check_laws(text, parents, limit)
    sentences = table(text, limit)
    ends = sentences.bounds.tolist()
    for left, right in pairwise(parents):
        more = ends[ends.index(right.start) + 1]
        sizes = limit.measure(sentences.texts(ends.index(left.start), ends.index(more)))
        assert sum(sizes) > limit.most or not limit.fits(text[left.start : more])
