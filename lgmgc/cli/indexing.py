"""What `lgmgc index` does, document by document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice, load_models
from lgmgc.cli.messages import detail
from lgmgc.cli.progress import Watch
from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError
from lgmgc.files.chunks import read_trees
from lgmgc.files.documents import Failure, Opened, Reading, documents
from lgmgc.files.source import Source
from lgmgc.retrieval.configuration import configuration_of_tree
from lgmgc.retrieval.index import Index

if TYPE_CHECKING:  # this imports torch
    from lgmgc.lm.embedder import Embedder

CUTTING = 0.7
"""Of a document's share of the bar: chunking it by a model. The rest is embedding it."""


@dataclass(slots=True)
class Record:
    """What became of the documents.

    Attributes:
        added: those that were not there.
        replaced: those that were there with another text or configuration.
        skipped: those that were there already.
        failed: those that cannot be indexed; what was there of them stays.
        pieces: what was embedded.
    """

    added: int = 0
    replaced: int = 0
    skipped: int = 0
    failed: int = 0
    pieces: int = 0


class Given(Protocol):
    """Documents to index."""

    @property
    def names(self) -> Set[str]:
        """Their ids, with those that cannot be read; complete when they are indexed."""
        ...

    @property
    def named(self) -> bool:
        """Whether the ids of all are known, also of those that cannot be read."""
        ...

    def into(self, index: Index) -> Record:
        """Index them."""
        ...


class Chunks:
    """Documents that were chunked before."""

    def __init__(self, path: Path) -> None:
        """Read the whole file once, so that one that is damaged is known before anything is done.

        Raises:
            UsageError: see `lgmgc.files.chunks.read_trees`.
        """
        self._path = path
        sizes = {tree.document.id: len(tree.document.text) for tree in read_trees(path)}
        self.names = frozenset(sizes)
        self.named = True
        self._size = sum(sizes.values())

    def into(self, index: Index) -> Record:
        """Index them."""
        record = Record()
        with Watch(len(self.names), self._size, rows_on_terminal=False) as watch:
            for tree in read_trees(self._path):
                watch.opened(tree.document, len(tree.document.text))
                _add(index, tree, configuration_of_tree(tree), record, watch, 1.0)
        return record


class Paths:
    """Documents to be chunked."""

    def __init__(
        self,
        sources: Sequence[Source],
        reading: Reading,
        settings: Settings,
        choice: ModelChoice,
        configuration: str,
        embedder: Embedder | None,
    ) -> None:
        """Prepare.

        Args:
            sources: where they are.
            reading: how they are read.
            settings: of the chunker.
            choice: its models; loaded at the first document that has to be chunked.
            configuration: see `lgmgc.retrieval.configuration`.
            embedder: the index's, for a method that needs one too.
        """
        self.names: set[str] = set()
        self.named = True
        self._sources = sources
        self._reading = reading
        self._settings = settings
        self._choice = choice
        self._configuration = configuration
        self._embedder = embedder

    def into(self, index: Index) -> Record:
        """Index them."""
        record = Record()
        size = sum(source.size for source in self._sources)
        watch = Watch(len(self._sources), size, rows_on_terminal=False)
        changed = self._changed(index, record, watch)
        with watch:
            first = next(changed, None)
        if first is None:
            return record
        asks = bool(self._settings.plan.needs) or self._settings.unit == "tokens"
        cutting = CUTTING if asks else 0.0
        with watch.loading() if asks else nullcontext():
            models = load_models(self._settings, self._choice, self._embedder)
            chunker = models.chunker(self._settings)
        detail(f"models: {models.description or 'none'}")

        def advanced(document: Document, share: float) -> None:
            watch.advanced(document, share * cutting)

        def failed(document: Document, error: DocumentError) -> None:
            record.failed += 1
            watch.failed(str(error), 0)

        with watch:
            for tree in chunker.chunk_many(chain([first], changed), advanced, failed):
                _add(index, tree, self._configuration, record, watch, 1 - cutting)
        return record

    def _changed(self, index: Index, record: Record, watch: Watch) -> Iterator[Document]:
        """Read one document after another, as they are asked for; leave out what is there."""
        for found in self._found():
            self.names.add(found.id if isinstance(found, Failure) else found.document.id)
            if isinstance(found, Failure):
                self.named &= not found.unnamed
                record.failed += 1
                watch.failed(found.message, found.size)
                continue
            document = found.document
            watch.opened(document, found.size)
            if index.has(document.id, document.content_hash, self._configuration):
                record.skipped += 1
                watch.advanced(document, 1.0)
                watch.finished(document)
            else:
                yield document

    def _found(self) -> Iterator[Opened | Failure]:
        seen: set[str] = set()
        for source in self._sources:
            yield from documents(source, self._reading, seen)


def _add(
    index: Index, tree: Tree, configuration: str, record: Record, watch: Watch, share: float
) -> None:
    """Embed and store a document, which is a share of the work for it."""
    try:
        done = index.add([tree], configuration)
    except DocumentError as error:
        record.failed += 1
        watch.failed(str(error), 0)
        return
    record.added += done.added
    record.replaced += done.replaced
    record.skipped += done.skipped
    record.pieces += done.pieces
    watch.advanced(tree.document, share)
    watch.finished(tree.document)
