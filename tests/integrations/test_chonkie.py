from __future__ import annotations

import asyncio

import pytest
from chonkie.types import Document
from hypothesis import given, settings

from lgmgc.integrations.chonkie import LGMGCChunker

from .made import AWKWARD, chunker, expected, texts


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text: str) -> None:
    _check(text)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_offsets_survive(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    made = LGMGCChunker(chunker(), emit="all").chunk(text)
    assert [(c.metadata["level"], c.start_index, c.end_index) for c in made] == [
        chunk[:3] for chunk in expected(text)
    ]
    assert all(c.text == text[c.start_index : c.end_index] for c in made)
    assert all(c.token_count == len(c.text) for c in made)  # a token is a character
    assert "".join(c.text for c in LGMGCChunker(chunker()).chunk(text)) == text


def test_the_framework_s_other_ways_in() -> None:
    shape = LGMGCChunker(method="sentences", theta=6, tokenizer="word")
    text = "One two three. Four five six. Seven eight nine."
    one, two = shape.chunk(text)
    assert (one.text, two.text) == ("One two three. Four five six. ", "Seven eight nine.")
    assert two.token_count == 3
    assert shape([text, text[30:]])[0] == shape(text) == [one, two]
    assert [[c.text for c in chunks] for chunks in shape.chunk_batch(["", "Ten."])] == [
        [],
        ["Ten."],
    ]
    assert asyncio.run(shape.achunk(text)) == [one, two]
    document = shape.chunk_document(Document(content=text, metadata={"title": "T"}))
    assert document.chunks[1].metadata == {**two.metadata, "title": "T"}
