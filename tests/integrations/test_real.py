"""The adapters with the real small models: loaded by name, found by meaning."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from lgmgc import LGMGC, Index
from lgmgc.integrations import haystack, langchain, llama_index
from lgmgc.lm.embedder import load_embedder

SAMPLE = Path(__file__).parents[2] / "samples" / "harbour.md"
QUESTION = "Who mended the clock?"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("real") / "harbour.db"
    chunker = LGMGC.from_pretrained(method="mg", theta=80)
    with Index.open(path, load_embedder(device="cpu"), create=True) as index:
        index.add([chunker.chunk(SAMPLE.read_text(encoding="utf-8")[:3000])])
    return path


def test_lgmgc_in_langchain() -> None:
    text = SAMPLE.read_text(encoding="utf-8")[:800]
    splitter = langchain.LGMGCTextSplitter(
        model="smollm2-135m-instruct", theta=40, device="cpu", precision="bf16"
    )
    made = splitter.create_documents([text])
    assert "".join(document.page_content for document in made) == text
    assert len(made) > 3
    scores = [document.metadata["boundary_score"] for document in made[:-1]]
    assert all(math.isfinite(score) and score < 0 for score in scores)
    assert len(set(scores)) == len(scores)


def test_retrievers_of_a_path_load_its_embedder(path: Path) -> None:
    with Index.open(path, load_embedder(device="cpu")) as index:
        hits = index.search(QUESTION, 3)
    expected: Any = [(hit.text, pytest.approx(hit.score, abs=1e-6)) for hit in hits]
    by_langchain = langchain.LGMGCRetriever(index=path, k=3).invoke(QUESTION)
    assert [(d.page_content, d.metadata["score"]) for d in by_langchain] == expected
    by_llama_index = llama_index.LGMGCRetriever(path, similarity_top_k=3).retrieve(QUESTION)
    assert [(one.text, one.score) for one in by_llama_index] == expected
    by_haystack = haystack.LGMGCRetriever(path, top_k=3).run(QUESTION)["documents"]
    assert [(d.content, d.score) for d in by_haystack] == expected
