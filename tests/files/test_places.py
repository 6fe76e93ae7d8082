from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.document import Chunk, Document, Heading
from lgmgc.files.places import headings_of, pages_of

SIZE = 40
SPANS = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(1, 9)).map(
        lambda each: (each[0], min(SIZE, each[0] + each[1]))
    ),
    min_size=1,
    max_size=12,
)
HEADINGS = st.lists(
    st.tuples(st.integers(0, SIZE), st.integers(1, 4), st.sampled_from("AB")), max_size=8
)


@given(st.lists(st.integers(1, SIZE), max_size=6), SPANS)
def test_chunks_lie_on_the_pages_they_lay_on(
    starts: list[int], spans: list[tuple[int, int]]
) -> None:
    document = Document("a", "x" * SIZE, pages=(0, *sorted(starts)))
    chunks = [Chunk(document, "", 0, start, end, 1) for start, end in spans]
    found = [(c.start, c.end, c.pages) for c in chunks if c.pages]
    again = Document("a", document.text, pages=pages_of(found))
    assert [Chunk(again, "", 0, a, b, 1).pages for a, b in spans] == [c.pages for c in chunks]


@given(HEADINGS, SPANS)
def test_chunks_stand_under_the_titles_they_stood_under(
    given: list[tuple[int, int, str]], spans: list[tuple[int, int]]
) -> None:
    titles = tuple(Heading(*each) for each in sorted(given, key=lambda each: each[0]))
    document = Document("a", "x" * SIZE, headings=titles)
    chunks = [Chunk(document, "", 0, start, end, 1) for start, end in spans]
    again = Document(
        "a", document.text, headings=headings_of((c.start, c.headings) for c in chunks)
    )
    assert [Chunk(again, "", 0, a, b, 1).headings for a, b in spans] == [c.headings for c in chunks]


def test_nothing_known() -> None:
    assert pages_of([]) == ()
    assert headings_of([]) == ()
    assert headings_of([(0, [])]) == ()
