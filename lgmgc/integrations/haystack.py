"""Haystack: a document splitter, and a retriever of max-score parents.

>>> from haystack import Document, Pipeline
>>> from lgmgc.integrations.haystack import LGMGCDocumentSplitter, LGMGCRetriever
>>> splitter = LGMGCDocumentSplitter(model="smollm2-135m-instruct", theta=300)
>>> splitter.run(documents=[Document(content=text)])  # doctest: +SKIP
>>> retriever = LGMGCRetriever("notes.db", top_k=5)
>>> retriever.run(query="Who mended the harbour clock?")  # doctest: +SKIP

To load a saved pipeline, Haystack 3 asks for ``allowed_modules=["lgmgc.*"]``. Haystack (not this
package) reports on pipelines that run, unless HAYSTACK_TELEMETRY_ENABLED=False is in the
environment when it is imported.
"""

# Annotations are not postponed here, for older versions of Haystack cannot resolve them.
import copy
from pathlib import Path
from typing import Any

from lgmgc.chunkers.chunker import Chunker
from lgmgc.document import Document as Source
from lgmgc.errors import DocumentError
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
    from haystack import Document, component, default_to_dict
except ImportError as error:
    raise FrameworkError("Haystack", "lgmgc[haystack]", error) from error


@component
class LGMGCDocumentSplitter:
    """Splits by any method of ours; the contents are the document's own, white space included.

    Meta is the document's own, `lgmgc.integrations.common.describe`, and as Haystack's own splitter
    names them ``source_id``, ``split_id`` (counted from 0 in every document) and
    ``split_idx_start``, with ``split_idx_end``: code points from spans, never searched for. A
    split's id is the chunk's, a hash of document id, text and place, so ``parent_id`` names a
    document.
    """

    def __init__(
        self, chunker: Chunker | None = None, *, emit: Emit = "parents", **pretrained: Any
    ) -> None:
        """Prepare; models are loaded by `warm_up`, or at the first document.

        Args:
            chunker: one that is ready; a pipeline that has it cannot be saved.
            emit: which chunks become documents; see `lgmgc.integrations.common.emitted`.
            pretrained: in place of a chunker, the arguments of `LGMGC.from_pretrained`.

        Raises:
            UsageError: an argument that cannot be.
        """
        check_emit(emit)
        self.emit: Emit = emit
        self._source = ChunkerSource(chunker, pretrained)

    def warm_up(self) -> None:
        """Load the models."""
        self._source.load()

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """Split documents, whose windows share the model's batches.

        Raises:
            DocumentError: a document has no text, or cannot be chunked.
        """
        sources = []
        for document in documents:
            if document.content is None:
                raise DocumentError(
                    f"{document.id}: has no text content; convert it to text before it is split"
                )
            sources.append(Source(document.id, document.content))
        trees = self._source.trees(sources)
        splits = [
            Document(
                id=chunk.id,
                content=chunk.text,
                meta={
                    **copy.deepcopy(document.meta),
                    "source_id": document.id,
                    "split_id": number,
                    "split_idx_start": chunk.start,
                    "split_idx_end": chunk.end,
                    **describe(chunk, parent),
                },
            )
            for document, tree in zip(documents, trees, strict=True)
            for number, (chunk, parent) in enumerate(emitted(tree, self.emit))
        ]
        return {"documents": splits}

    def to_dict(self) -> dict[str, Any]:
        """For a pipeline to be saved.

        Raises:
            UsageError: it was made with a ready chunker.
        """
        return dict(default_to_dict(self, emit=self.emit, **self._source.saved()))


@component
class LGMGCRetriever:
    """The parents of an index that hold the best pieces, best first, with their scores.

    A document's content is what a reader should be given of the parent. Meta tells ``source_id``
    (the document's id in the index), ``split_idx_start`` and ``split_idx_end`` in the source's
    text, and `lgmgc.integrations.common.describe_hit`.
    """

    def __init__(
        self,
        index: Index | str | Path,
        *,
        embedder: str | None = None,
        top_k: int = 5,
        mode: Mode | None = None,
    ) -> None:
        """Prepare; a path is opened, and its embedder loaded, by `warm_up` or at the first search.

        Args:
            index: an open index, or the path of one; a pipeline is saved with the path.
            embedder: for a path; see `lgmgc.integrations.common.IndexSource`.
            top_k: parents to find.
            mode: dense, lexical or hybrid; None for dense where the index has vectors, else
                lexical.
        """
        self.top_k = top_k
        self.mode = mode
        self._source = IndexSource(index, embedder)

    def warm_up(self) -> None:
        """Open the index and load its embedder."""
        self._source.open(self.mode)

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Find parents.

        Args:
            query: any text.
            top_k: in place of the component's own.
        """
        hits = self._source.search(query, self.top_k if top_k is None else top_k, self.mode)
        found = [
            Document(
                id=hit.parent.id,
                content=hit.text,
                score=hit.score,
                meta={
                    "source_id": hit.document,
                    "split_idx_start": hit.reading[0],
                    "split_idx_end": hit.reading[1],
                    **describe_hit(hit),
                },
            )
            for hit in hits
        ]
        return {"documents": found}

    def to_dict(self) -> dict[str, Any]:
        """For a pipeline to be saved."""
        more = self._source.saved()
        return dict(default_to_dict(self, top_k=self.top_k, mode=self.mode, **more))
