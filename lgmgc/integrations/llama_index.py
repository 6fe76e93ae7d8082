"""LlamaIndex: a node parser, and a retriever of max-score parents.

>>> from lgmgc.integrations.llama_index import LGMGCNodeParser, LGMGCRetriever
>>> parser = LGMGCNodeParser(model="smollm2-135m-instruct", theta=300)
>>> nodes = parser.get_nodes_from_documents(documents)  # doctest: +SKIP
>>> retriever = LGMGCRetriever("notes.db", similarity_top_k=5)
>>> retriever.retrieve("Who mended the harbour clock?")  # doctest: +SKIP
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lgmgc.chunkers.chunker import Chunker
from lgmgc.document import Chunk, Tree
from lgmgc.document import Document as Source
from lgmgc.errors import UsageError
from lgmgc.integrations.common import (
    ChunkerSource,
    Emit,
    FrameworkError,
    IndexSource,
    check_emit,
    describe,
    describe_hit,
    emitted,
)
from lgmgc.retrieval.index import Index, Mode

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.node_parser.interface import NodeParser
    from llama_index.core.node_parser.node_utils import default_id_func
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ImportError as error:
    raise FrameworkError("LlamaIndex", "lgmgc[llama-index]", error) from error


class LGMGCNodeParser(NodeParser):
    """Parses documents into parents and children by any method of ours.

    A node's text is the document's own, white space included, from ``start_char_idx`` to
    ``end_char_idx`` in code points: spans, never searched for. Its id is the chunk's, a hash of
    document id, text and place, unless another ``id_func`` is given. Relationships are SOURCE;
    PARENT and CHILD where both are emitted; PREVIOUS and NEXT within a level, where no text lies
    between. What metadata gains (`lgmgc.integrations.common.describe`) is kept from the
    embedding and from the language model, as is what the document keeps from them.

    A parser with a ready chunker cannot be made again from what it is saved as, and what it made
    is never taken from the cache of another run's pipeline, for it does not say what model it
    holds.

    Attributes:
        emit: which chunks become nodes; see `lgmgc.integrations.common.emitted`.
        pretrained: the arguments of `LGMGC.from_pretrained`.
        ready: a mark that is a ready chunker's own; None where there is none.
    """

    emit: Emit = "all"
    pretrained: dict[str, Any] = Field(default_factory=dict)
    ready: str | None = None
    _source: ChunkerSource = PrivateAttr()

    def __init__(
        self,
        chunker: Chunker | None = None,
        *,
        emit: Emit = "all",
        pretrained: dict[str, Any] | None = None,
        ready: str | None = None,
        **more: Any,
    ) -> None:
        """Prepare; models are loaded at the first document.

        Args:
            chunker: one that is ready.
            emit: which chunks become nodes.
            pretrained: as ``more``, for a parser that was saved.
            ready: set on a parser that was saved with a ready chunker, which is then needed again.
            more: NodeParser's own fields; all others are, in place of a chunker, the arguments of
                `LGMGC.from_pretrained`.

        Raises:
            UsageError: an argument that cannot be.
        """
        check_emit(emit)
        if ready is not None and chunker is None:
            raise UsageError("this node parser was saved with a ready chunker; give it again")
        own: dict[str, Any] = {
            name: more.pop(name) for name in list(more) if name in NodeParser.model_fields
        }
        source = ChunkerSource(chunker, {**(pretrained or {}), **more})
        mark = None if chunker is None else uuid.uuid4().hex
        own.update(emit=emit, pretrained=source.pretrained, ready=mark)
        super().__init__(**own)
        self._source = source

    @classmethod
    def class_name(cls) -> str:
        """As saved parsers name it."""
        return "LGMGCNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        trees = self._source.trees(
            Source(node.node_id, text) for node, text in zip(nodes, texts, strict=True)
        )
        return [
            made
            for node, tree in zip(nodes, trees, strict=True)
            for made in self._nodes_of(node, tree)
        ]

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]
    ) -> list[BaseNode]:
        """Leave the nodes as they are: the framework would search for their texts."""
        return nodes

    def _nodes_of(self, origin: BaseNode, tree: Tree) -> list[TextNode]:
        source = origin.source_node or origin.as_related_node_info()
        made: dict[str, TextNode] = {}
        last: dict[int, Chunk] = {}  # by level
        for k, (chunk, parent) in enumerate(emitted(tree, self.emit)):
            identity = chunk.id if self.id_func is default_id_func else self.id_func(k, origin)
            node = made[chunk.id] = _node(identity, origin, chunk, parent, self.include_metadata)
            node.relationships[NodeRelationship.SOURCE] = source
            if chunk is not parent and parent.id in made:
                _relate(made[parent.id], node)
            before = last.get(chunk.level)
            if self.include_prev_next_rel and before and chunk.start <= before.end:
                _link(made[before.id], node)
            last[chunk.level] = chunk
        return list(made.values())


class LGMGCRetriever(BaseRetriever):
    """The parents of an index that hold the best pieces, best first, with their scores.

    A node's text is what a reader should be given of the parent; its SOURCE is the document's id,
    its metadata `lgmgc.integrations.common.describe_hit`.
    """

    def __init__(
        self,
        index: Index | str | Path,
        *,
        embedder: str | None = None,
        similarity_top_k: int = 5,
        mode: Mode | None = None,
        **more: Any,
    ) -> None:
        """Prepare; a path is opened, and its embedder loaded, at the first search.

        Args:
            index: an open index, or the path of one.
            embedder: for a path; see `lgmgc.integrations.common.IndexSource`.
            similarity_top_k: parents to find.
            mode: dense, lexical or hybrid; None for dense where the index has vectors, else
                lexical.
            more: BaseRetriever's own arguments.
        """
        super().__init__(**more)
        self.similarity_top_k = similarity_top_k
        self.mode = mode
        self._source = IndexSource(index, embedder)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = []
        for hit in self._source.search(query_bundle.query_str, self.similarity_top_k, self.mode):
            told = describe_hit(hit)
            node = TextNode(
                id_=hit.parent.id,
                text=hit.text,
                start_char_idx=hit.reading[0],
                end_char_idx=hit.reading[1],
                metadata=told,
                excluded_embed_metadata_keys=list(told),
                excluded_llm_metadata_keys=list(told),
                relationships={
                    NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.document),
                },
            )
            found.append(NodeWithScore(node=node, score=hit.score))
        return found


def _node(
    identity: str, origin: BaseNode, chunk: Chunk, parent: Chunk, include_metadata: bool
) -> TextNode:
    told = describe(chunk, parent)
    return TextNode(
        id_=identity,
        text=chunk.text,
        start_char_idx=chunk.start,
        end_char_idx=chunk.end,
        metadata={**(origin.metadata if include_metadata else {}), **told},
        excluded_embed_metadata_keys=[*origin.excluded_embed_metadata_keys, *told],
        excluded_llm_metadata_keys=[*origin.excluded_llm_metadata_keys, *told],
        metadata_template=origin.metadata_template,
        metadata_separator=origin.metadata_separator,
        text_template=origin.text_template if hasattr(origin, "text_template") else "",
    )


def _relate(parent: TextNode, child: TextNode) -> None:
    children = parent.relationships.setdefault(NodeRelationship.CHILD, [])
    assert isinstance(children, list)
    children.append(child.as_related_node_info())
    child.relationships[NodeRelationship.PARENT] = parent.as_related_node_info()


def _link(before: TextNode, after: TextNode) -> None:
    before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
    after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()
