"""LangChain: a text splitter, and a retriever of max-score parents.

>>> from lgmgc.integrations.langchain import LGMGCRetriever, LGMGCTextSplitter
>>> splitter = LGMGCTextSplitter(model="smollm2-135m-instruct", theta=300)
>>> documents = splitter.split_documents(loader.load())  # doctest: +SKIP
>>> retriever = LGMGCRetriever(index="notes.db", k=5)
>>> retriever.invoke("Who mended the harbour clock?")  # doctest: +SKIP
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lgmgc.chunkers.chunker import Chunker
from lgmgc.document import Chunk
from lgmgc.document import Document as Source
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
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_text_splitters import TextSplitter
    from pydantic import Field, PrivateAttr
except ImportError as error:
    raise FrameworkError("LangChain", "lgmgc[langchain]", error) from error


class LGMGCTextSplitter(TextSplitter):
    """Splits by any method of ours; the texts are the document's own, white space included.

    Metadata is a document's own and `lgmgc.integrations.common.describe`, with ``start_index`` and
    ``end_index``: code points of the document's text, from spans and never searched for.
    """

    def __init__(
        self,
        chunker: Chunker | None = None,
        *,
        emit: Emit = "parents",
        add_start_index: bool = True,
        **pretrained: Any,
    ) -> None:
        """Prepare; models are loaded at the first text.

        Args:
            chunker: one that is ready.
            emit: which chunks become documents; see `lgmgc.integrations.common.emitted`.
            add_start_index: whether metadata has ``start_index``.
            pretrained: in place of a chunker, the arguments of `LGMGC.from_pretrained`.

        Raises:
            UsageError: an argument that cannot be.
        """
        super().__init__(chunk_overlap=0, add_start_index=add_start_index, strip_whitespace=False)
        check_emit(emit)
        self._emit: Emit = emit
        self._source = ChunkerSource(chunker, pretrained)

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks; those of parents join to the text."""
        [tree] = self._source.trees([Source("text", text)])
        return [chunk.text for chunk, _ in emitted(tree, self._emit)]

    def create_documents(
        self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """Split texts, each with the metadata that its chunks take over."""
        return self.split_documents(
            Document(page_content=text, metadata=metadata)
            for text, metadata in zip(texts, metadatas or [{}] * len(texts), strict=True)
        )

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents, whose windows share the model's batches.

        A chunk's id is a hash of its document's id, text and place. A document without an id goes
        by its metadata, so two are told apart unless they are the same in everything. The id is
        metadata only: stores refuse to add two documents of the same id at once.
        """
        given = list(documents)
        trees = self._source.trees(Source(_name(one), one.page_content) for one in given)
        return [
            self._document(document, chunk, parent)
            for document, tree in zip(given, trees, strict=True)
            for chunk, parent in emitted(tree, self._emit)
        ]

    def _document(self, document: Document, chunk: Chunk, parent: Chunk) -> Document:
        metadata = copy.deepcopy(document.metadata) | describe(chunk, parent)
        if self._add_start_index:
            metadata["start_index"] = chunk.start
        metadata["end_index"] = chunk.end
        return Document(page_content=chunk.text, metadata=metadata)


class LGMGCRetriever(BaseRetriever):
    """The parents of an index that hold the best pieces, best first.

    A document's text is what a reader should be given of the parent. Metadata tells its ``score``,
    ``source`` (the document's id), ``start_index`` and ``end_index`` in the source's text, and
    `lgmgc.integrations.common.describe_hit`.

    A path is opened, and its embedder loaded, at the first search. Such a retriever can be
    pickled; one over an open index cannot.

    Attributes:
        index: an open index, or the path of one.
        embedder: for a path; see `lgmgc.integrations.common.IndexSource`.
        k: parents to find.
        mode: dense, lexical or hybrid; None for dense where the index has vectors, else lexical.
    """

    index: Index | Path | str
    embedder: str | None = None
    k: int = Field(default=5, ge=1)
    mode: Mode | None = None
    _source: IndexSource = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Prepare."""
        self._source = IndexSource(self.index, self.embedder)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        """Search; ``k`` of an ``invoke`` counts before the retriever's own."""
        return [
            Document(
                id=hit.parent.id,
                page_content=hit.text,
                metadata={
                    "source": hit.document,
                    "score": hit.score,
                    "start_index": hit.reading[0],
                    "end_index": hit.reading[1],
                    **describe_hit(hit),
                },
            )
            for hit in self._source.search(query, k or self.k, self.mode)
        ]


def _name(document: Document) -> str:
    return document.id or json.dumps(document.metadata, sort_keys=True, default=str)
