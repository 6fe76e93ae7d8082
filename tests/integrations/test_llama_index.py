from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)

from lgmgc import Index, UsageError
from lgmgc.integrations.llama_index import LGMGCNodeParser, LGMGCRetriever

from .made import AWKWARD, chunker, expected, texts

# θ of 12 words: by all mass on the first sentence, "Stop." and then the rest, which has two
# children of 6 words and four of 3.
TEXT = "Stop.\n\n" + "Go on now. " * 4


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text: str) -> None:
    _check(text)


@settings(max_examples=60, deadline=None)
@given(texts)
def test_offsets_survive(text: str) -> None:
    _check(text)


def _check(text: str) -> None:
    nodes = parse(LGMGCNodeParser(chunker()), Document(text=text))
    assert [(node.metadata["level"], node.start_char_idx, node.end_char_idx) for node in nodes] == [
        chunk[:3] for chunk in expected(text)
    ]
    assert all(node.text == text[node.start_char_idx : node.end_char_idx] for node in nodes)
    assert "".join(node.get_content() for node in get_root_nodes(list[BaseNode](nodes))) == text


def parse(parser: LGMGCNodeParser, *documents: Document) -> list[TextNode]:
    nodes = parser.get_nodes_from_documents(documents)
    assert all(isinstance(node, TextNode) for node in nodes)
    return [node for node in nodes if isinstance(node, TextNode)]


def related(node: BaseNode, relationship: NodeRelationship) -> list[str]:
    found = node.relationships.get(relationship, [])
    return [one.node_id for one in (found if isinstance(found, list) else [found])]


def test_relationships() -> None:
    nodes = parse(
        LGMGCNodeParser(chunker(scores="first")),
        Document(text=TEXT, id_="a"),
        Document(text=TEXT, id_="b"),
    )
    ids = [node.node_id for node in nodes]
    assert len(set(ids)) == 16
    stop, rest, *children = nodes[:8]
    assert [node.text for node in children] == ["Go on now. " * 2] * 2 + ["Go on now. "] * 4
    assert {node.ref_doc_id for node in nodes[:8]} == {"a"}
    assert {node.ref_doc_id for node in nodes[8:]} == {"b"}
    assert related(rest, NodeRelationship.CHILD) == ids[2:8]
    assert related(stop, NodeRelationship.CHILD) == []
    assert all(related(node, NodeRelationship.PARENT) == ids[1:2] for node in children)
    chains = [[0, 1], [2, 3], [4, 5, 6, 7], [8, 9], [10, 11], [12, 13, 14, 15]]
    for chain in chains:
        for k, place in enumerate(chain):
            assert related(nodes[place], NodeRelationship.NEXT) == [
                ids[after] for after in chain[k + 1 : k + 2]
            ]
            assert related(nodes[place], NodeRelationship.PREVIOUS) == [
                ids[before] for before in chain[max(0, k - 1) : k]
            ]
    leaves = get_leaf_nodes(list[BaseNode](nodes))
    assert [leaf.node_id for leaf in leaves] == [ids[0], *ids[2:9], *ids[10:]]


def test_relationships_of_what_is_emitted() -> None:
    # Alone, parents have no children, and children no parent; a level goes on over a parent's end.
    text = "Go on now. " * 8
    parents = parse(LGMGCNodeParser(chunker(scores="last"), emit="parents"), Document(text=text))
    assert [node.text for node in parents] == ["Go on now. " * 4] * 2
    assert all(NodeRelationship.CHILD not in node.relationships for node in parents)
    children = parse(LGMGCNodeParser(chunker(scores="last"), emit="children"), Document(text=text))
    assert all(NodeRelationship.PARENT not in node.relationships for node in children)
    halves = [node for node in children if node.metadata["level"] == 1]
    assert [node.start_char_idx for node in halves] == [0, 22, 44, 66]
    assert related(halves[1], NodeRelationship.NEXT) == [halves[2].node_id]
    plain = LGMGCNodeParser(chunker(scores="last"), include_prev_next_rel=False)
    assert all(
        NodeRelationship.NEXT not in node.relationships
        for node in parse(plain, Document(text=text))
    )


def test_nothing_lies_between_neighbours() -> None:
    # Of three parents the one in the middle has no children: level 1 is not linked across it.
    text = "Go on now. " * 4 + "Stop.\n\n" + "Go on now. " * 4
    cuts = iter([3, 0])
    made = chunker()
    made.models.scorer.choose = lambda window: [  # type: ignore[union-attr]
        -float(k != cut) for cut in [next(cuts)] for k in range(len(window.ends))
    ]
    nodes = parse(LGMGCNodeParser(made), Document(text=text))
    halves = [node for node in nodes if node.metadata["level"] == 1]
    assert [node.start_char_idx for node in halves] == [0, 22, 51, 73]
    assert NodeRelationship.NEXT not in halves[1].relationships
    assert NodeRelationship.PREVIOUS not in halves[2].relationships


def test_metadata_is_kept_from_embedding_and_model() -> None:
    document = Document(
        text=TEXT, metadata={"title": "T", "size": 9}, excluded_embed_metadata_keys=["size"]
    )
    [first, *_] = parse(LGMGCNodeParser(chunker(scores="first")), document)
    assert first.metadata == {
        "title": "T",
        "size": 9,
        "chunk_id": first.node_id,
        "parent_id": first.node_id,
        "level": 0,
        "boundary_score": -1.0,
    }
    assert first.get_content(MetadataMode.EMBED) == "title: T\n\nStop."
    assert first.get_content(MetadataMode.LLM) == "title: T\nsize: 9\n\nStop."
    [bare, *_] = parse(LGMGCNodeParser(chunker(), include_metadata=False), document)
    assert "title" not in bare.metadata


def test_nodes_of_nodes_keep_the_document() -> None:
    node = TextNode(
        text=TEXT, relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="book")}
    )
    nodes = LGMGCNodeParser(chunker())([node])
    assert {made.ref_doc_id for made in nodes} == {"book"}


def test_ids_are_the_same_in_every_run_or_one_s_own() -> None:
    document = Document(text=TEXT, id_="a")
    first, second = (parse(LGMGCNodeParser(chunker()), document) for _ in range(2))
    assert [node.node_id for node in first] == [node.node_id for node in second]
    own = LGMGCNodeParser(chunker(), id_func=lambda k, doc: f"{doc.node_id}-{k}")
    assert [node.node_id for node in parse(own, document)][:2] == ["a-0", "a-1"]
    later = asyncio.run(LGMGCNodeParser(chunker()).aget_nodes_from_documents([document]))
    assert [node.node_id for node in later] == [node.node_id for node in first]


def test_by_name_saved_and_pickled() -> None:
    parser = LGMGCNodeParser(method="sentences", theta=6, emit="parents")
    nodes = parse(parser, Document(text=TEXT, id_="a"))
    assert [node.text for node in nodes] == ["Stop.\n\nGo on now. ", *["Go on now. " * 2] * 1][
        :1
    ] + [node.text for node in nodes[1:]]
    saved = parser.to_dict()
    assert saved["pretrained"] == {"method": "sentences", "theta": 6}
    del saved["id_func"]  # which no parser of the framework can be made from
    again = [LGMGCNodeParser.from_dict(saved), pickle.loads(pickle.dumps(parser))]
    for copy in again:
        assert copy.to_dict() == parser.to_dict()
        assert parse(copy, Document(text=TEXT, id_="a")) == nodes


def test_a_ready_chunker_is_not_taken_for_another() -> None:
    one, two = LGMGCNodeParser(chunker()).to_dict(), LGMGCNodeParser(chunker()).to_dict()
    assert one["ready"] != two["ready"]
    del one["id_func"]
    with pytest.raises(UsageError, match="was saved with a ready chunker; give it again"):
        LGMGCNodeParser.from_dict(one)
    # So what a pipeline remembers of one is not given for the other.
    pipeline = IngestionPipeline(transformations=[LGMGCNodeParser(chunker(12))])
    document = Document(text="Go on now. " * 8, id_="a")
    before = pipeline.run(documents=[document])
    assert pipeline.run(documents=[document]) == before
    pipeline.transformations = [LGMGCNodeParser(chunker(24))]
    assert len(pipeline.run(documents=[document])) != len(before)


def test_arguments_that_cannot_be() -> None:
    with pytest.raises(UsageError, match="a ready chunker takes no theta"):
        LGMGCNodeParser(chunker(), theta=3)
    with pytest.raises(UsageError, match="unexpected keyword argument 'chunk_size'"):
        LGMGCNodeParser(chunk_size=100)
    with pytest.raises(UsageError, match="emit 'leaves' is none of"):
        LGMGCNodeParser(emit="leaves")  # type: ignore[arg-type]


def test_the_retriever_gives_the_index_s_hits(index: Index) -> None:
    hits = index.search("sail boat", 3)
    retriever = LGMGCRetriever(index, similarity_top_k=3)
    found = retriever.retrieve("sail boat")
    assert [(one.node_id, one.text, one.score) for one in found] == [
        (hit.parent.id, hit.text, hit.score) for hit in hits
    ]
    for one, hit in zip(found, hits, strict=True):
        assert isinstance(one.node, TextNode)
        assert (one.node.start_char_idx, one.node.end_char_idx) == hit.reading
        assert one.node.ref_doc_id == hit.document
        assert one.metadata["piece_id"] == hit.piece.id
        assert one.node.get_content(MetadataMode.LLM) == hit.text
    assert asyncio.run(retriever.aretrieve("sail boat")) == found


def test_a_retriever_of_a_path(index: Index, tmp_path: Path) -> None:
    found = LGMGCRetriever(index.path, mode="lexical").retrieve("rope")
    assert [one.node.ref_doc_id for one in found] == ["two.txt", "two.txt"]
    with pytest.raises(UsageError, match="there is no index"):
        LGMGCRetriever(tmp_path / "none.db").retrieve("rope")
