import pytest
from hypothesis import given, settings

from lgmgc.chunkers.method import Parent
from lgmgc.chunkers.small2big import small2big
from lgmgc.text.table import Limit
from tests.chunkers.cutting import UNITS, anything, check_laws, limits, prose, run, texts
from tests.fake import TEXTS


def windows(text: str, parents: list[Parent]) -> list[str]:
    return [text[slice(*parent.window)] for parent in parents if parent.window]


def test_by_hand() -> None:
    text = "Aa. Bb cc. Dd. Ee ff. Gg. Hh. Ii."
    #       1   2      1   2      1   1   1
    parents = run(small2big, text, UNITS["words"](8))
    # At most two words a piece, and eight of a window: one after, one before, one after …
    assert texts(text, parents) == ["Aa. ", "Bb cc. ", "Dd. ", "Ee ff. ", "Gg. Hh. ", "Ii."]
    assert windows(text, parents) == [
        "Aa. Bb cc. Dd. Ee ff. Gg. Hh. ",  # nothing is before; after it 2, 1, 2 and 2
        "Aa. Bb cc. Dd. Ee ff. Gg. Hh. ",
        "Aa. Bb cc. Dd. Ee ff. Gg. Hh. ",  # 1, after 2, before 2, after 2, before 1
        "Bb cc. Dd. Ee ff. Gg. Hh. Ii.",  # 2, after 2, before 1, after 1, before 2
        "Bb cc. Dd. Ee ff. Gg. Hh. Ii.",
        "Bb cc. Dd. Ee ff. Gg. Hh. Ii.",
    ]


def test_a_side_whose_next_piece_is_too_large_is_done() -> None:
    text = "Aa aa. Bb. Cc cc. Dd dd. Ee ee. Ff."
    parents = run(small2big, text, UNITS["words"](8))
    # Of Cc: 2, after 2, before 1, after 2; before it 2 are too many, and after it 1 is not.
    assert windows(text, parents)[2] == "Bb. Cc cc. Dd dd. Ee ee. Ff."


def test_sentences_larger_than_a_piece_are_divided() -> None:
    text = "Aa bb cc dd ee ff."
    parents = run(small2big, text, UNITS["words"](5))
    assert texts(text, parents) == ["Aa ", "bb ", "cc ", "dd ", "ee ", "ff."]
    # Of the first, four after it; of the last, four before it.
    assert windows(text, parents) == ["Aa bb cc dd ee "] * 3 + ["bb cc dd ee ff."] * 3


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    parents = run(small2big, TEXTS[name], limit)
    check_laws(TEXTS[name], parents, Limit(limit.measure, 15))
    assert all(limit.fits(window) for window in windows(TEXTS[name], parents))


@given(anything | prose, limits)
@settings(max_examples=300, deadline=None)
def test_laws_of_pieces_and_windows(text: str, limit: Limit) -> None:
    parents = run(small2big, text, limit)
    check_laws(text, parents, Limit(limit.measure, max(1, limit.most // 4)))
    assert len(windows(text, parents)) == len(parents)
    for parent in parents:
        assert parent.window is not None
        assert parent.window[0] <= parent.start < parent.end <= parent.window[1]
        assert limit.fits(text[slice(*parent.window)])
        assert parent.window[0] in {other.start for other in parents}
        assert parent.window[1] in {other.end for other in parents}


@given(anything | prose, limits)
@settings(max_examples=200, deadline=None)
def test_a_window_holds_what_it_can(text: str, limit: Limit) -> None:
    if not limit.additive:
        return
    parents = run(small2big, text, limit)
    starts, ends = [p.start for p in parents], [p.end for p in parents]
    sizes = limit.measure(texts(text, parents)).tolist()
    for parent in parents:
        assert parent.window is not None
        first, last = starts.index(parent.window[0]), ends.index(parent.window[1])
        size = sum(sizes[first : last + 1])
        assert first == 0 or size + sizes[first - 1] > limit.most
        assert last == len(parents) - 1 or size + sizes[last + 1] > limit.most
