"""An index on disk: documents in, the best parents out.

One SQLite file holds everything. SQL does the bookkeeping and the lexical search; vectors are
one BLOB a document and are scored in memory by numpy. An extension such as sqlite-vec would let SQL
do that too, but Python is often built without `enable_load_extension` (on macOS, and where
this was written), and one product of a matrix is as exact and needs no grouping in SQL.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError, UsageError
from lgmgc.retrieval import rows
from lgmgc.retrieval.embedding import Packed, Rows, TextEmbedder, VectorType, pack, unit
from lgmgc.retrieval.hits import Added, Counts, Hit
from lgmgc.retrieval.matrix import Matrix
from lgmgc.retrieval.ranking import fuse
from lgmgc.retrieval.schema import connect, explained, transaction
from lgmgc.retrieval.terms import expression

Mode = Literal["dense", "lexical", "hybrid"]

BATCH = 1024
"""The most pieces of a document that are embedded in one call."""
DEPTH = 100
"""Hybrid fuses the first 100 parents of each ranking, or the first k where k is more."""


class Index:
    """Documents with their chunks, found by meaning or by words.

    Each document is written in one transaction: a run killed at any moment leaves whole documents,
    and adding the same again does what is left (law 7). One process writes at a time, any number
    read meanwhile, and each search sees one state of the whole. Threads may share an index; they
    take turns. The file can be read and written by its owner only.

    Attributes:
        path: the file.
        embedder_name: what the index was made with; None: no vectors, lexical search only.
        embedder_identity: as ``TextEmbedder.identity``.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, embedder: TextEmbedder | None
    ) -> None:
        """Take over a connection; use `open`."""
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        self.path = path
        self.embedder_name: str | None = meta.get("embedder")
        self.embedder_identity: str | None = meta.get("identity")
        self._dimensions = int(meta.get("dimensions", 0))
        self._vectors: VectorType = "int8" if meta.get("vectors") == "int8" else "float32"
        self._connection = connection
        self._embedder = embedder
        self._lock = threading.RLock()
        self._matrix: Matrix | None = None
        self._version: tuple[int, int] | None = None

    @classmethod
    def open(
        cls,
        path: str | Path,
        embedder: TextEmbedder | None = None,
        *,
        create: bool = False,
        vectors: VectorType = "float32",
        timeout: float = 30.0,
    ) -> Self:
        """Open an index.

        Args:
            path: the file.
            embedder: None: search is lexical, and nothing is added to an index with vectors.
            create: make it if it is not there; without an embedder it never holds vectors.
            vectors: how a new index keeps them; int8 takes a quarter of the room.
            timeout: seconds to wait while another process writes.

        Raises:
            UsageError: it is missing, of another version, of another program, damaged, locked, or
                was made with another embedder.
        """
        path = Path(path)
        settings = {}
        if embedder is not None:
            settings = {
                "embedder": embedder.name,
                "identity": embedder.identity,
                "dimensions": str(embedder.dimensions),
                "vectors": vectors,
            }
        connection = connect(path, settings if create else None, timeout)
        try:
            with explained(path):
                index = cls(path, connection, embedder)
            if embedder is not None and embedder.identity != index.embedder_identity:
                made = f"the embedder {index.embedder_name} ({index.embedder_identity})"
                raise UsageError(
                    f"{path}: was made with {made if index.embedder_identity else 'no embedder'}, "
                    f"not with {embedder.name} ({embedder.identity}); give what it was made with, "
                    "or index into another file"
                )
        except BaseException:
            connection.close()
            raise
        return index

    def add(
        self,
        trees: Iterable[Tree],
        configuration: str = "",
        progress: Callable[[Document], None] = lambda document: None,
    ) -> Added:
        """Index documents; those that are there unchanged are skipped without being embedded.

        Documents never share a batch of the embedder's, for the last bits of a row may depend on
        its neighbours: so a document's rows are the same in any order, and after any kill (law 7).

        Args:
            trees: taken one by one, so memory does not grow with their number (law 5).
            configuration: what decided the chunks apart from the text.
            progress: told each document that is in the index now.

        Raises:
            UsageError: the index has vectors and was opened without an embedder, or the file
                cannot be written.
            ModelError: the embedder's rows are of no use.
            DocumentError: an id or view holds a lone surrogate.
        """
        if self.embedder_identity is not None and self._embedder is None:
            raise UsageError(
                f"{self.path}: was made with the embedder {self.embedder_name}; open it with that "
                "one to add to it"
            )
        added = replaced = skipped = count = 0
        for tree in trees:
            _check(tree)
            document, content_hash = tree.document, tree.document.content_hash
            if self.has(document.id, content_hash, configuration):
                skipped += 1
            else:
                texts = [rows.content(piece) for _, piece in rows.pieces(tree)]
                vectors = self._embed(texts)
                with self._transaction("IMMEDIATE") as connection:
                    old = rows.put(connection, tree, content_hash, configuration, vectors)
                replaced += old
                added += not old
                count += len(texts)
            progress(document)
        return Added(added, replaced, skipped, count)

    def has(self, document_id: str, content_hash: str, configuration: str = "") -> bool:
        """Whether `add` would skip a document, so that it need not even be chunked."""
        with self._transaction("DEFERRED") as connection:
            found = connection.execute(
                "SELECT 1 FROM documents WHERE (name, content_hash, configuration) = (?, ?, ?)",
                (document_id, content_hash, configuration),
            )
            return found.fetchone() is not None

    def remove(self, document_id: str) -> bool:
        """Remove a document; False when there is none of that id."""
        with self._transaction("IMMEDIATE") as connection:
            return rows.forget(connection, document_id)

    def prune(self, keep: Collection[str]) -> int:
        """Remove the documents whose ids are not in `keep`; give their number."""
        with self._transaction("DEFERRED") as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM documents")]
        return sum(self.remove(name) for name in names if name not in keep)

    def search(
        self,
        query: str,
        k: int = 5,
        *,
        mode: Mode = "dense",
        vector: NDArray[Any] | None = None,
        level_bonus: Sequence[float] = (),
    ) -> list[Hit]:
        """Find the k best parents; a parent scores as its best piece does.

        Dense and hybrid give k parents whenever there are k; lexical only those in which a word of
        the query occurs. Ties go by the document's id, then by the place in its text.

        The first dense search, and the first after a change, reads all vectors into memory.

        Args:
            query: any text; for lexical search its words, of which one must occur.
            k: parents, never pieces.
            mode: dense: cosine; lexical: BM25; hybrid: both rankings, fused by reciprocal ranks.
            vector: shape (dimensions,), of any length; searched with in place of the query's.
            level_bonus: added to the similarity of pieces of level 0, 1, …, since longer pieces
                score systematically otherwise than short ones.

        Returns:
            Best first.

        Raises:
            UsageError: k is below 1, or the mode needs vectors or an embedder that there is not.
        """
        if k < 1:
            raise UsageError(f"k is {k}; ask for at least 1 parent")
        row = None if mode == "lexical" else self._row(query, vector)
        depth = max(k, DEPTH) if mode == "hybrid" else k
        with self._transaction("DEFERRED") as connection:
            rankings = []
            if row is not None:
                rankings.append(self._loaded(connection).best(row, depth, level_bonus))
            if mode != "dense":
                rankings.append(rows.lexical(connection, expression(query), depth))
            [matches, *more] = rankings
            if more:
                parents = {match.parent for ranking in rankings for match in ranking}
                matches = fuse(rankings, rows.places(connection, sorted(parents)))
            return rows.hits(connection, matches[:k])

    def counts(self) -> Counts:
        """What is in the index."""
        with self._transaction("DEFERRED") as connection:
            documents, words = connection.execute(
                "SELECT count(*), coalesce(sum(words), 0) FROM documents"
            ).fetchone()
            pieces, parents = connection.execute(
                "SELECT count(*), coalesce(sum(id = parent), 0) FROM chunks"
            ).fetchone()
            return Counts(documents, parents, pieces, words)

    def document_text(self, document_id: str) -> str:
        """A document's whole text.

        Raises:
            UsageError: there is none of that id.
        """
        with self._transaction("DEFERRED") as connection:
            found = connection.execute(
                "SELECT text FROM documents WHERE name = ?", (document_id,)
            ).fetchone()
        if found is None:
            raise UsageError(f"{self.path}: holds no document {document_id}")
        return str(found[0])

    def close(self) -> None:
        """Let go of the file and of the vectors in memory."""
        self._connection.close()
        self._matrix = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _embed(self, texts: Sequence[str]) -> Packed | None:
        if self._embedder is None:
            return None
        parts = [np.empty((0, self._dimensions), np.float32)]
        for start in range(0, len(texts), BATCH):
            some = texts[start : start + BATCH]
            given = self._embedder.passages(some)
            parts.append(unit(given, len(some), self._dimensions, self._embedder.name))
        return pack(np.concatenate(parts), self._vectors)

    def _row(self, query: str, vector: NDArray[Any] | None) -> Rows:
        if self.embedder_identity is None:
            raise UsageError(
                f"{self.path}: was made without an embedder; search with mode lexical, or index "
                "again with one"
            )
        if vector is None:
            if self._embedder is None:
                raise UsageError(
                    f"{self.path}: needs its embedder {self.embedder_name} for this; open it with "
                    "that one, or search with mode lexical"
                )
            vector = self._embedder.queries([query])[0]
        name = str(self.embedder_name)
        [row] = unit(np.asarray(vector)[None], 1, self._dimensions, name)
        return cast(Rows, row)

    def _loaded(self, connection: sqlite3.Connection) -> Matrix:
        """The vectors of the state that the open transaction sees."""
        [others] = connection.execute("PRAGMA data_version").fetchone()  # not our own changes
        version = others, connection.total_changes
        if self._matrix is None or version != self._version:
            self._matrix = None  # so that two are never in memory
            self._matrix = rows.load(connection, self._vectors, self._dimensions)
            self._version = version
        return self._matrix

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        with self._lock, explained(self.path), transaction(self._connection, kind):
            yield self._connection


def _check(tree: Tree) -> None:
    """Refuse what SQLite cannot keep."""
    try:
        "".join((tree.document.id, *(piece.view or "" for piece in tree))).encode()
    except UnicodeEncodeError:
        raise DocumentError(
            f"{tree.document.id!r}: its id or a view holds a lone surrogate; decode the source "
            "with errors='replace' first"
        ) from None
