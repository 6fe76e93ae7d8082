from __future__ import annotations

from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.telemetry import _telemetry
from hypothesis import given, settings

from lgmgc import DocumentError, Index, Options, UsageError
from lgmgc.integrations.haystack import LGMGCDocumentSplitter, LGMGCRetriever

from .made import AWKWARD, chunker, expected, texts

TEXT = "Stop.\n\n" + "Go on now. " * 4


def test_haystack_is_silent() -> None:
    assert _telemetry.telemetry is None


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text: str) -> None:
    _check(text)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_offsets_survive(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    source = Document(content=text, meta={"page": 3})
    splits = LGMGCDocumentSplitter(chunker(), emit="all").run([source])["documents"]
    metas = [split.meta for split in splits]
    assert [(m["level"], m["split_idx_start"], m["split_idx_end"]) for m in metas] == [
        chunk[:3] for chunk in expected(text)
    ]
    for k, split in enumerate(splits):
        assert split.content == text[split.meta["split_idx_start"] : split.meta["split_idx_end"]]
        assert (split.meta["source_id"], split.meta["split_id"]) == (source.id, k)
        assert split.meta["page"] == 3
    parents = LGMGCDocumentSplitter(chunker()).run([source])["documents"]
    assert "".join(parent.content or "" for parent in parents) == text


def test_meta() -> None:
    source = Document(content=TEXT, meta={"tags": ["x"]})
    splitter = LGMGCDocumentSplitter(chunker(scores="first"), emit="all")
    stop, rest, *children = splitter.run([source, Document(content="Other.")])["documents"][:-1]
    assert stop.meta == {
        "tags": ["x"],
        "source_id": source.id,
        "split_id": 0,
        "split_idx_start": 0,
        "split_idx_end": 7,
        "chunk_id": stop.id,
        "parent_id": stop.id,
        "level": 0,
        "boundary_score": -1.0,
    }
    assert [child.meta["parent_id"] for child in children] == [rest.id] * 6
    stop.meta["tags"].append("y")
    assert source.meta == {"tags": ["x"]}


def test_a_document_without_text_is_refused_by_its_id() -> None:
    with pytest.raises(DocumentError, match=r"^nine: has no text content; convert it"):
        LGMGCDocumentSplitter(chunker()).run([Document(id="nine")])


def test_a_pipeline_is_saved_and_loaded(index: Index) -> None:
    store = InMemoryDocumentStore()
    options = Options(seed=3)
    splitter = LGMGCDocumentSplitter(method="random", theta=5, children=(), options=options)
    indexing = Pipeline()
    indexing.add_component("split", splitter)
    indexing.add_component("write", DocumentWriter(store, DuplicatePolicy.OVERWRITE))
    indexing.connect("split.documents", "write.documents")
    loaded = Pipeline.loads(indexing.dumps(), allowed_modules=["lgmgc.*"])
    made = [
        pipeline.run({"split": {"documents": [Document(content=TEXT)]}}, {"split"})["split"]
        for pipeline in (indexing, loaded)
    ]
    assert made[0] == made[1]
    assert len(made[0]["documents"]) > 2
    written = sorted(store.filter_documents(), key=lambda split: split.meta["split_id"])
    assert "".join(split.content or "" for split in written) == TEXT

    finding = Pipeline()
    finding.add_component("find", LGMGCRetriever(index, top_k=1, mode="lexical"))
    copy = Pipeline.loads(finding.dumps(), allowed_modules=["lgmgc.*"])
    query = {"find": {"query": "rope", "top_k": 2}}
    assert copy.run(query) == finding.run(query)
    assert len(copy.run({"find": {"query": "rope"}})["find"]["documents"]) == 1


def test_what_a_saved_splitter_says() -> None:
    splitter = LGMGCDocumentSplitter(model="m", cache=Path("c"), options=Options(overlap=2))
    assert splitter.to_dict() == {
        "type": "lgmgc.integrations.haystack.LGMGCDocumentSplitter",
        "init_parameters": {
            "emit": "parents",
            "model": "m",
            "cache": "c",
            "options": {"overlap": 2},
        },
    }
    with pytest.raises(UsageError, match="a ready chunker cannot be written down; give the arg"):
        LGMGCDocumentSplitter(chunker()).to_dict()


def test_a_boundaries_file_survives(tmp_path: Path) -> None:
    spans = tmp_path / "spans.jsonl"
    source = Document(content=TEXT, id="a")
    spans.write_text(
        '{"document": "a", "start": 0, "end": 18}\n{"document": "a", "start": 18, "end": 51}\n'
    )
    splitter = LGMGCDocumentSplitter(method="manual", options=Options(boundaries=spans))
    loaded = LGMGCDocumentSplitter(**splitter.to_dict()["init_parameters"])
    contents = [split.content for split in loaded.run([source])["documents"]]
    assert contents == [TEXT[:18], TEXT[18:]]


def test_options_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="unexpected keyword argument 'size'"):
        LGMGCDocumentSplitter(method="fixed", options={"size": 1}).warm_up()
    with pytest.raises(UsageError, match="emit 'leaves' is none of"):
        LGMGCDocumentSplitter(emit="leaves")  # type: ignore[arg-type]


def test_the_retriever_gives_the_index_s_hits(index: Index) -> None:
    retriever = LGMGCRetriever(index, top_k=3)
    hits = index.search("sail boat", 3)
    found = retriever.run("sail boat")["documents"]
    assert [(d.id, d.content, d.score) for d in found] == [
        (hit.parent.id, hit.text, hit.score) for hit in hits
    ]
    assert [
        (d.meta["source_id"], d.meta["split_idx_start"], d.meta["split_idx_end"]) for d in found
    ] == [(hit.document, *hit.reading) for hit in hits]
    with pytest.raises(UsageError, match="k is 0; ask for at least 1 parent"):
        retriever.run("sail", top_k=0)


def test_a_retriever_of_a_path_warms_up(index: Index, tmp_path: Path) -> None:
    retriever = LGMGCRetriever(str(index.path), mode="lexical")
    retriever.warm_up()
    assert len(retriever.run("rope")["documents"]) == 2
    with pytest.raises(UsageError, match="there is no index"):
        LGMGCRetriever(tmp_path / "none.db").warm_up()
