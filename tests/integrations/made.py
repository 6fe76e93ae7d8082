"""What the adapters are tested with: awkward texts, and a chunker whose cuts repeat."""

from __future__ import annotations

from hypothesis import strategies as st

from lgmgc import Chunker, Document, Settings
from lgmgc.text.sizes import Unit
from tests.fake import SCORES, TEXTS, FakeScorer

AWKWARD = {
    **{
        name: TEXTS[name]
        for name in (
            "empty",
            "blank",
            "CRLF",
            "leading white space",
            "joiners and emoji families",
            "combining accents",
            "CJK",
            "equal sentences",
            "controls",
            "astral",
        )
    },
    "equal paragraphs": "The same. Again and again.\n\n" * 12,
}
texts = st.one_of(
    st.sampled_from([AWKWARD["CRLF"], AWKWARD["equal paragraphs"], "\n\n  \u2028x. "]),
    st.text(
        st.one_of(
            st.characters(exclude_categories=["Cs"]),
            st.sampled_from(list("  \n\r\t.!?。\u00a0\u200d\u0301x")),
        ),
        max_size=200,
    ),
)
"""Hypothesis: few words and many ends, so that equal chunks are tried."""


def chunker(theta: int = 12, unit: Unit = "words", scores: str = "random") -> Chunker:
    return Chunker(Settings("lgmgc", theta, unit), FakeScorer(SCORES[scores]))


def expected(text: str, name: str = "any") -> list[tuple[int, int, int, float | None]]:
    """Level, start, end and rounded score of every chunk of `chunker`, as the core makes them."""
    return [
        (
            chunk.level,
            chunk.start,
            chunk.end,
            None if chunk.score is None else round(chunk.score, 4),
        )
        for chunk in chunker().chunk(Document(name, text))
    ]
