"""What cuts documents for a run: this process, or several (see `lgmgc.chunkers.processes`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError

if TYPE_CHECKING:  # these bring in torch, which a run without a model goes without
    from lgmgc.chunkers.chunker import Counts, Settings
    from lgmgc.chunkers.load import LoadedModels

Advanced = Callable[[Document, float], None]
Failed = Callable[[Document, DocumentError], None]


class Cutter(Protocol):
    """Cuts documents, and counts what that takes."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Which models are asked; weights are read for their sha256."""
        ...

    @property
    def batch_tokens(self) -> int:
        """Token places of a batch."""
        ...

    @property
    def description(self) -> str:
        """Which models these are and where they run, in one line; empty where there is none."""
        ...

    @property
    def total(self) -> Counter[str]:
        """What was made and asked so far; see `tally`."""
        ...

    def cut(
        self, documents: Iterable[Document], progress: Advanced, failed: Failed
    ) -> Iterator[tuple[Tree, Counter[str]]]:
        """Cut documents, as `Chunker.chunk_many` does.

        Args:
            documents: taken from only as far as they are needed.
            progress: told what share of a document's sentences was read for the first time.
            failed: told of a document that cannot be cut.

        Yields:
            Each document's tree, in the order that they came in, and what was made and asked
            since the tree before.
        """
        ...


class OneProcess:
    """Cuts in this process."""

    def __init__(self, models: LoadedModels, settings: Settings) -> None:
        """Make a chunker that asks these models."""
        self._models = models
        self._chunker = models.chunker(settings)

    @property
    def identity(self) -> Mapping[str, object]:
        """See `Cutter`."""
        return self._models.identity

    @property
    def batch_tokens(self) -> int:
        """See `Cutter`."""
        return self._models.batch_tokens

    @property
    def description(self) -> str:
        """See `Cutter`."""
        return self._models.description

    @property
    def total(self) -> Counter[str]:
        """See `Cutter`."""
        return tally(self._chunker.counts, self._models)

    def cut(
        self, documents: Iterable[Document | None], progress: Advanced, failed: Failed
    ) -> Iterator[tuple[Tree, Counter[str]]]:
        """See `Cutter`; None among the documents is as for `Chunker.chunk_many`."""
        before = self.total
        for tree in self._chunker.chunk_many(documents, progress, failed):
            after = self.total
            yield tree, Counter({name: after[name] - before[name] for name in after})
            before = after


def tally(counts: Counts, models: LoadedModels) -> Counter[str]:
    """Say what was made and asked so far.

    Args:
        counts: the chunker's.
        models: what it asked.
    """
    asked = models.loaded.scorer.counters if models.loaded else None
    return Counter(
        {
            "parents": counts.parents,
            "chunks": counts.chunks,
            "words": counts.words,
            "sentences": counts.sentences,
            "sentences_divided": counts.divided,
            "windows_shortened": counts.shortened,
            "windows": asked.windows if asked else 0,
            "model_calls": asked.calls if asked else 0,
            "texts_written": models.writer.counters.calls if models.writer else 0,
            "texts_embedded": models.embedder.counters.texts if models.embedder else 0,
            "tokens_read": models.tokens_read,
            "retries": counts.retries,
            "fallbacks": counts.fallbacks,
        }
    )
