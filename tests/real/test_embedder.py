"""The real default embedder, as `lgmgc models pull all-minilm-l6-v2` brings it."""

from __future__ import annotations

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from lgmgc.lm.catalogue import find
from lgmgc.lm.embedder import Embedder, load_embedder
from lgmgc.lm.store import default_cache, path_of


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("all-minilm-l6-v2", device="cpu")


def paragraphs(sample: str) -> list[str]:
    return [part for part in sample.split("\n\n") if part.strip()]


def test_what_it_is(embedder: Embedder) -> None:
    assert (embedder.name, embedder.dimensions) == ("all-minilm-l6-v2", 384)
    assert embedder.limit == 254  # 256 less [CLS] and [SEP]
    assert embedder.prefixes.query == embedder.prefixes.passage == ""


def test_near_is_near(embedder: Embedder) -> None:
    [cat] = embedder.queries(["A cat sat on the mat"])
    kitten, market = embedder.passages(["a kitten on a rug", "the stock market fell"])
    assert cat @ kitten > cat @ market + 0.3


def test_short_texts_are_as_sentence_transformers_has_them(embedder: Embedder, sample: str) -> None:
    texts = [*paragraphs(sample), "", "Naïve café — 東京 🙂"]
    model = SentenceTransformer(
        str(path_of(find("all-minilm-l6-v2"), default_cache())), device="cpu", local_files_only=True
    )
    theirs = model.encode(texts, normalize_embeddings=True)
    np.testing.assert_allclose(embedder.passages(texts), theirs, rtol=0, atol=1e-5)


def test_neighbours_change_last_bits_only(embedder: Embedder, sample: str) -> None:
    texts = paragraphs(sample)
    together = embedder.passages(texts)
    alone = np.concatenate([embedder.passages([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-6


def test_a_long_text_is_not_truncated(embedder: Embedder, sample: str) -> None:
    [whole, first, end] = embedder.passages(
        [sample + "\n\nThe stock market fell.", sample, "The stock market fell."]
    )
    assert embedder.counters.pooled >= 2
    assert whole @ end > first @ end
