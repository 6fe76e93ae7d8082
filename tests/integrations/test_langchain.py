from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from langchain_core.documents import Document
from langchain_core.runnables import ConfigurableField
from pydantic import ValidationError

from lgmgc import Index, Options, UsageError
from lgmgc.integrations.langchain import LGMGCRetriever, LGMGCTextSplitter

from .made import AWKWARD, chunker, expected, texts


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text: str) -> None:
    _check(text)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_offsets_survive(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    splitter = LGMGCTextSplitter(chunker(), emit="all")
    made = splitter.create_documents([text], [{"page": 3}])
    assert [
        (d.metadata["level"], d.metadata["start_index"], d.metadata["end_index"]) for d in made
    ] == [chunk[:3] for chunk in expected(text)]
    for document in made:
        start, end = document.metadata["start_index"], document.metadata["end_index"]
        assert document.page_content == text[start:end]
        assert document.metadata["page"] == 3
    assert "".join(LGMGCTextSplitter(chunker()).split_text(text)) == text


def test_metadata() -> None:
    text = AWKWARD["equal paragraphs"]
    made = LGMGCTextSplitter(chunker(), emit="all").create_documents([text])
    parents = {d.metadata["chunk_id"]: d for d in made if d.metadata["level"] == 0}
    assert len(parents) > 3
    for document in made:
        told = document.metadata
        parent = parents[told["parent_id"]]
        assert parent.metadata["start_index"] <= told["start_index"]
        assert told["end_index"] <= parent.metadata["end_index"]
        assert (told["chunk_id"] == told["parent_id"]) == (told["level"] == 0)
    assert [parent.metadata.get("boundary_score") for parent in parents.values()] == [
        score for level, *_, score in expected(text) if level == 0
    ]
    assert made[0].metadata["boundary_score"] < 0
    assert made[0].id is None  # equal documents would have equal ids, which stores refuse


def test_emit() -> None:
    # "Stop." is too small for children and stands for itself; the rest, of 12 words, has children
    # of 6 and of 3 words.
    text = "Stop.\n\n" + "Go on now. " * 4

    def of(emit: str) -> list[tuple[int, str]]:
        splitter = LGMGCTextSplitter(chunker(scores="first"), emit=emit)  # type: ignore[arg-type]
        return [(d.metadata["level"], d.page_content) for d in splitter.create_documents([text])]

    parents = [(0, "Stop.\n\n"), (0, "Go on now. " * 4)]
    children = [(1, "Go on now. " * 2)] * 2 + [(2, "Go on now. ")] * 4
    assert of("parents") == parents
    assert of("children") == [parents[0], *children]
    assert of("all") == [*parents, *children]


def test_documents_are_told_apart_and_their_metadata_is_copied() -> None:
    given_ = [
        Document(page_content="Same text. Same.", metadata={"source": "a", "tags": ["x"]}),
        Document(page_content="Same text. Same.", metadata={"source": "b"}),
        Document(page_content="Same text. Same.", metadata={"source": "b"}, id="third"),
    ]
    splitter = LGMGCTextSplitter(chunker(), add_start_index=False)
    made = splitter.split_documents(given_)
    assert [d.metadata["source"] for d in made] == ["a", "b", "b"]
    assert len({d.metadata["chunk_id"] for d in made}) == 3
    assert "start_index" not in made[0].metadata
    made[0].metadata["tags"].append("y")
    assert given_[0].metadata == {"source": "a", "tags": ["x"]}
    # The same in another order and another call (law 4), and by the framework's other ways in.
    again = splitter.transform_documents(given_[::-1])
    assert [d.metadata["chunk_id"] for d in again] == [d.metadata["chunk_id"] for d in made[::-1]]
    later = asyncio.run(splitter.atransform_documents(given_))
    assert [d.page_content for d in later] == [d.page_content for d in made]


def test_by_name_and_pickled() -> None:
    options = Options(seed=3)
    splitter = LGMGCTextSplitter(method="random", theta=5, children=(), options=options)
    text = "One two. Three four. Five six. Seven eight. Nine ten. " * 3
    before = splitter.split_text(text)
    assert "".join(before) == text
    assert len(before) > 3
    assert pickle.loads(pickle.dumps(splitter)).split_text(text) == before


def test_arguments_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="a ready chunker takes no theta"):
        LGMGCTextSplitter(chunker(), theta=3)
    with pytest.raises(UsageError, match="unexpected keyword argument 'chunk_size'"):
        LGMGCTextSplitter(chunk_size=100)
    with pytest.raises(UsageError, match="emit 'leaves' is none of parents, children, all"):
        LGMGCTextSplitter(emit="leaves")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="method 'x' is none of"):
        LGMGCTextSplitter(method="x").split_text("One.")


def test_the_retriever_gives_the_index_s_hits(index: Index) -> None:
    retriever = LGMGCRetriever(index=index, k=3)
    hits = index.search("sail boat", 3)
    assert hits[0].document == "one.txt"
    found = retriever.invoke("sail boat")
    assert [(d.id, d.page_content, d.metadata) for d in found] == [
        (
            hit.parent.id,
            hit.text,
            {
                "source": hit.document,
                "score": hit.score,
                "start_index": hit.reading[0],
                "end_index": hit.reading[1],
                "chunk_id": hit.parent.id,
                "rank": hit.rank,
                "piece_id": hit.piece.id,
                "piece_level": hit.piece.level,
                "piece_start": hit.piece.start,
                "piece_end": hit.piece.end,
            },
        )
        for hit in hits
    ]
    assert asyncio.run(retriever.ainvoke("sail boat")) == found
    assert retriever.batch(["rope", "sail boat"], config={"max_concurrency": 2})[1] == found
    for document in found:
        start, end = document.metadata["start_index"], document.metadata["end_index"]
        text = index.document_text(document.metadata["source"])
        assert document.page_content == text[start:end]


def test_the_retriever_s_fields(index: Index) -> None:
    retriever = LGMGCRetriever(index=index, k=2, mode="lexical", tags=["mine"])
    chosen = retriever.configurable_fields(k=ConfigurableField(id="k"))
    found = chosen.invoke("sail rope", config={"configurable": {"k": 1}})
    assert [d.metadata["score"] for d in found] == [
        hit.score for hit in index.search("sail rope", 1, mode="lexical")
    ]
    with pytest.raises(ValidationError):
        LGMGCRetriever(index=index, k=0)
    with pytest.raises(ValidationError):
        LGMGCRetriever(index=index, mode="fuzzy")  # type: ignore[arg-type]


def test_a_retriever_of_a_path(index: Index, tmp_path: Path) -> None:
    retriever = LGMGCRetriever(index=str(index.path), mode="lexical")
    found = retriever.invoke("rope")
    assert [d.metadata["source"] for d in found] == ["two.txt", "two.txt"]
    assert pickle.loads(pickle.dumps(retriever)).invoke("rope") == found
    with pytest.raises(UsageError, match="there is no index; make it with `lgmgc index"):
        LGMGCRetriever(index=tmp_path / "none.db").invoke("rope")
