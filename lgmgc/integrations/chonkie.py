"""Chonkie: our chunkers in the shape of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lgmgc.chunkers.chunker import Chunker
from lgmgc.document import Document as Source
from lgmgc.integrations.common import (
    ChunkerSource,
    Emit,
    FrameworkError,
    check_emit,
    describe,
    emitted,
)

try:
    from chonkie.chunker.base import BaseChunker
    from chonkie.types import Chunk
except ImportError as error:
    raise FrameworkError("Chonkie", "chonkie", error) from error


class LGMGCChunker(BaseChunker):
    """Chunks by any method of ours; see `ChunkerSource` for the arguments, `emitted` for emit."""

    def __init__(
        self,
        chunker: Chunker | None = None,
        *,
        emit: Emit = "parents",
        tokenizer: Any = "character",
        **pretrained: Any,
    ) -> None:
        """Prepare; models are loaded at the first text, and ``tokenizer`` counts its tokens."""
        super().__init__(tokenizer)
        check_emit(emit)
        self._emit: Emit = emit
        self._source = ChunkerSource(chunker, pretrained)

    def chunk(self, text: str) -> list[Chunk]:
        """Chunk one text."""
        [chunks] = self.chunk_batch([text])
        return chunks

    def chunk_batch(self, texts: Sequence[str], show_progress: bool = True) -> list[list[Chunk]]:
        """Chunk texts together; progress is not shown."""
        trees = self._source.trees(Source(str(k), text) for k, text in enumerate(texts))
        return [[self._chunk(*both) for both in emitted(tree, self._emit)] for tree in trees]

    def _chunk(self, chunk: Any, parent: Any) -> Chunk:
        count = self.tokenizer.count_tokens(chunk.text)
        told = describe(chunk, parent)
        return Chunk(chunk.id, chunk.text, chunk.start, chunk.end, count, metadata=told)
