"""Methods that need no model, run by themselves, and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from lgmgc.chunkers.method import Cutting, Parent
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.text.sentences import split
from lgmgc.text.sizes import IntArray, measure_characters, measure_tokens, measure_words
from lgmgc.text.table import Limit, Sentences, tabulate

Cut = Callable[[Sentences, Options, Document], Cutting]


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [list(map(ord, text)) for text in texts]


def uneven(texts: Sequence[str]) -> IntArray:
    """As some tokenizers count: "ab" is three, so that a whole may be more than its pieces."""
    return np.array([len(text) + text.count("ab") for text in texts], np.int64)


UNITS: dict[str, Callable[[int], Limit]] = {
    "words": lambda most: Limit(measure_words, most),
    "characters": lambda most: Limit(measure_characters, most),
    "tokens": lambda most: Limit(measure_tokens(characters), most, additive=False),
    "uneven": lambda most: Limit(uneven, most, additive=False),
}

anything = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(list(" \n\r\t.!?。！天\u00a0\u200d\u0301#-ab")),
    ),
    max_size=300,
)
prose = st.text(st.sampled_from(list("aab  .\n")), max_size=200)
limits = st.builds(
    lambda unit, most: UNITS[unit](most), st.sampled_from(list(UNITS)), st.integers(3, 40)
)


@lru_cache(maxsize=64)
def bounds(text: str) -> list[int]:
    return split(text)


def table(text: str, limit: Limit) -> Sentences:
    return tabulate(text, bounds(text), [limit])


def finish(cutting: Cutting) -> list[Parent]:
    """The parents of a method that asks nothing."""
    try:
        next(cutting)
    except StopIteration as end:
        parents: list[Parent] = end.value.parents
        return parents
    raise AssertionError("it asked for something")


def run(cut: Cut, text: str, limit: Limit, options: Options | None = None) -> list[Parent]:
    return finish(cut(table(text, limit), options or Options(), Document("a", text)))


def texts(text: str, parents: Sequence[Parent]) -> list[str]:
    return [text[parent.start : parent.end] for parent in parents]


def check_laws(text: str, parents: Sequence[Parent], limit: Limit) -> None:
    """Laws 1 and 2: the parents tile the text, and each keeps the limit."""
    assert all(parent.start < parent.end for parent in parents)
    assert all(left.end == right.start for left, right in pairwise(parents))
    assert "".join(texts(text, parents)) == text
    for parent in parents:
        assert limit.fits(text[parent.start : parent.end]), parent
        assert parent.score is None


class Counting:
    """A measure that counts the characters that it was given."""

    def __init__(self, limit: Limit) -> None:
        self.seen = 0
        self._measure = limit.measure
        self.limit = Limit(self, limit.most, limit.additive)

    def __call__(self, texts: Sequence[str]) -> IntArray:
        self.seen += sum(map(len, texts))
        return self._measure(texts)
