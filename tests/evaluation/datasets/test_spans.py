import doctest
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.evaluation.datasets import gutenqa, longbench, spans, titles
from lgmgc.evaluation.datasets.spans import joined, occurs_once, tiling


def test_the_worked_examples() -> None:
    for module, count in ((spans, 4), (gutenqa, 1), (longbench, 1), (titles, 1)):
        done = doctest.testmod(module)
        assert done.attempted >= count
        assert done.failed == 0


@given(st.lists(st.text("ab\n")), st.sampled_from(["", " ", "\n\n"]))
def test_pieces_are_found_again_where_they_end(pieces: list[str], between: str) -> None:
    text, ends = joined(pieces, between)
    assert len(ends) == len(pieces)
    for k, (start, end) in enumerate(pairwise((0, *ends))):
        assert text[start:end] == pieces[k] + (between if k + 1 < len(pieces) else "")
    assert (ends[-1] if ends else 0) == len(text)


@given(st.data())
def test_spans_tile(data: st.DataObject) -> None:
    length = data.draw(st.integers(0, 20))
    ends = data.draw(st.lists(st.integers(0, length)))
    tiles = tiling(ends, length)
    assert [k for start, end in tiles for k in range(start, end)] == list(range(length))
    assert {end for _, end in tiles} == ({*ends, length} - {0})


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=3))
def test_a_part_is_placed_where_it_stands_once(text: str, part: str) -> None:
    places = [k for k in range(len(text)) if text.startswith(part, k)]
    expected = (places[0], places[0] + len(part)) if len(places) == 1 else None
    assert occurs_once(text, part) == expected
