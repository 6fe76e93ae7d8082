"""What becomes of each document that `lgmgc chunk` reads."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lgmgc.chunkers.cutter import Cutter
from lgmgc.cli.progress import Watch
from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError, LgmgcError
from lgmgc.files.documents import Failure, Reading, documents
from lgmgc.files.journal import Journal
from lgmgc.files.manifest import entry
from lgmgc.files.output import Output
from lgmgc.files.rows import metadata_json, rows
from lgmgc.files.saved_text import save_text
from lgmgc.files.shape import Shape
from lgmgc.files.source import Source
from lgmgc.files.standard_output import StandardOutput


class Kept(Protocol):
    """Takes what becomes of documents; each has its position in the order that they are read."""

    def has(self, position: int, document: Document) -> bool:
        """Whether the document is done already.

        Raises:
            DocumentError: it cannot be written.
        """
        ...

    def add(self, position: int, tree: Tree, counts: Counter[str]) -> None:
        """Take a document and what it took."""
        ...

    def fail(self, position: int, id: str, message: str) -> None:
        """Take a failure."""
        ...

    def settled(self, end: int) -> None:
        """Learn that all positions before this are known."""
        ...


class Printed:
    """On standard output, as they come."""

    def __init__(self, shape: Shape) -> None:
        """Begin."""
        self._shape = shape
        self._output = StandardOutput()

    def has(self, position: int, document: Document) -> bool:
        """See `Kept`."""
        metadata_json(document)
        return False

    def add(self, position: int, tree: Tree, counts: Counter[str]) -> None:
        """See `Kept`."""
        for line in self._shape.lines(tree.document.id, rows(tree)):
            self._output.write(line)
        self._output.flush()

    def fail(self, position: int, id: str, message: str) -> None:
        """See `Kept`."""

    def settled(self, end: int) -> None:
        """See `Kept`."""


class Journaled:
    """In the journal, and from there in the shards."""

    def __init__(self, journal: Journal, output: Output) -> None:
        """Begin."""
        self._journal = journal
        self._output = output

    def has(self, position: int, document: Document) -> bool:
        """See `Kept`."""
        return self._journal.find(position, document)

    def add(self, position: int, tree: Tree, counts: Counter[str]) -> None:
        """See `Kept`."""
        self._journal.add(position, tree.document, rows(tree), entry(tree), counts)

    def fail(self, position: int, id: str, message: str) -> None:
        """See `Kept`."""
        self._journal.fail(position, {"id": id, "message": message})

    def settled(self, end: int) -> None:
        """See `Kept`."""
        self._output.settled(end)


@dataclass(slots=True)
class Run:
    """Reads documents, cuts those that are not done, and hands all on.

    Attributes:
        sources: where documents are.
        reading: how they are read.
        watch: is told.
        save_text: the folder that extracted texts go to.
        max_failures: how many documents may fail before the run ends.
        empty: documents without text so far.
        failed: documents that failed so far.
        found: documents that were done before.
        named: documents and failures so far.
    """

    sources: Sequence[Source]
    reading: Reading
    watch: Watch
    save_text: Path | None = None
    max_failures: int | None = None
    empty: int = 0
    failed: int = 0
    found: int = 0
    named: int = 0
    _kept: Kept = field(init=False)
    _waiting: deque[int] = field(default_factory=deque)  # positions of documents being cut

    def go(self, kept: Kept, cutter: Cutter) -> None:
        """Do it.

        Args:
            kept: takes what becomes of the documents.
            cutter: cuts.

        Raises:
            LgmgcError: more documents failed than may.
        """
        with self.watch:
            for position, tree, taken in self.trees(kept, cutter):
                kept.add(position, tree, taken)
                self.watch.finished(tree.document)
                self._settle()
            self._settle()

    def trees(self, kept: Kept, cutter: Cutter) -> Iterator[tuple[int, Tree, Counter[str]]]:
        """Give what was cut to the caller, who hands it on or keeps it, and the rest to ``kept``.

        Args:
            kept: see `go`.
            cutter: see `go`.

        Yields:
            Position, tree, and what that took.

        Raises:
            LgmgcError: see `go`.
        """
        self._kept = kept
        for tree, taken in cutter.cut(self._documents(), self.watch.advanced, self._not_cut):
            yield self._waiting.popleft(), tree, taken

    def _documents(self) -> Iterator[Document]:
        """Read one document after another, as they are asked for; give those that are not done."""
        seen: set[str] = set()
        for source in self.sources:
            for found in documents(source, self.reading, seen):
                position = self.named
                self.named += 1
                if isinstance(found, Failure):
                    self._fail(position, found.id, found.message, found.size)
                    continue
                document = found.document
                try:
                    done = self._kept.has(position, document)
                except DocumentError as error:
                    self._fail(position, document.id, str(error), found.size)
                    continue
                self.empty += not document.text
                self.watch.opened(document, found.size)
                if self.save_text:
                    save_text(document, self.save_text)
                if done:
                    self.found += 1
                    self.watch.advanced(document, 1.0)
                    self.watch.finished(document)
                    self._settle()
                else:
                    self._waiting.append(position)
                    yield document

    def _not_cut(self, document: Document, error: DocumentError) -> None:
        self.empty -= not document.text
        self._fail(self._waiting.popleft(), document.id, str(error), 0)

    def _fail(self, position: int, id: str, message: str, size: int) -> None:
        self._kept.fail(position, id, message)
        self.failed += 1
        self.watch.failed(message, size)
        self.check_failures()

    def check_failures(self) -> None:
        """See whether to go on.

        Raises:
            LgmgcError: more documents failed than may.
        """
        if self.max_failures is not None and self.failed > self.max_failures:
            raise LgmgcError(
                f"{self.failed:,} documents failed, and --max-failures is {self.max_failures:,}; "
                "mend them or allow more, and give the same command again"
            )

    def _settle(self) -> None:
        self._kept.settled(self._waiting[0] if self._waiting else self.named)
