"""The journal of a run: what is done, so that a run that was killed goes on (law 7)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.files.rows import metadata_json
from lgmgc.files.whole_file import refuse

_VERSION = 2
_PIECE = 1 << 20
_TABLES = {
    # What decides the output.
    "made": "part TEXT PRIMARY KEY, value TEXT NOT NULL",
    # What is done: its entry in the manifest, and what it took.
    "documents": "number INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "entry TEXT NOT NULL, counts TEXT NOT NULL, UNIQUE (name, fingerprint)",
    # The rows of a document, compressed.
    "pieces": "document INTEGER NOT NULL, piece INTEGER NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (document, piece)",
    # The order of this run: a document, or the manifest's entry of a failure.
    "places": "position INTEGER PRIMARY KEY, document INTEGER, failure TEXT",
    "shards": "file TEXT PRIMARY KEY, content TEXT NOT NULL, sha256 TEXT NOT NULL, record TEXT",
}
_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk is full or fails",
    sqlite3.SQLITE_READONLY: "it may not be written to",
    sqlite3.SQLITE_CANTOPEN: "it may not be written to",
}


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of an output of several.

    Attributes:
        content: which documents are in it.
        sha256: of the file.
        record: of a file that a machine of a cluster wrote, what it says of its documents; see
            `lgmgc.cli.ray_worker.Record`.
    """

    content: str
    sha256: str
    record: Mapping[str, Any] | None = None


class Journal:
    """What a run has done so far, in one SQLite file beside its output.

    A document that is done is one transaction: its rows and what the manifest says of it. It is
    found again by its id and a hash of all that its rows are made of. So a run begun again reads
    its documents again, takes the rows of those that are as they were, and cuts the others; the
    output is put together from the journal in the order of the documents. What failed is not in it,
    and is tried again.

    A kill at any moment loses no document that was done. A power cut may lose the last ones, since
    the disk is not waited for (``synchronous = NORMAL``), but never leaves half of one. The file
    can be read and written by its owner only, for it holds the documents' text.

    Attributes:
        known: whether there was one when it was opened, also one that was begun anew.
        resumed: how many documents were done then.
    """

    def __init__(self, path: Path, out: str, *, fresh: bool = False) -> None:
        """Open what is there, or begin.

        Args:
            path: of the journal.
            out: of the output, as messages name it.
            fresh: begin in any case.

        Raises:
            UsageError: it cannot be written, is damaged, or another run has it open.
        """
        self._path = path
        self._out = out
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            refuse(Path(out), error)
        self._connection = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        self._removed = False
        try:
            self._begin(fresh)
            self.resumed = self.done
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> int:
        """How many documents are in it, and in shards that it has a record of."""
        [count] = self._execute(
            "SELECT (SELECT count(*) FROM documents) + (SELECT "
            "coalesce(sum(json_array_length(record, '$.documents')), 0) FROM shards)"
        ).fetchone()
        return int(count)

    def require(self, part: str, value: Mapping[str, object]) -> None:
        """Note a part of what decides the output, or see that it is as it was noted.

        Raises:
            UsageError: it differs; the sentence says where.
        """
        given = json.dumps(value)
        found = self._one("SELECT value FROM made WHERE part = ?", part)
        if found is None:
            self._execute("INSERT INTO made VALUES (?, ?)", part, given)
        elif found[0] != given:
            changed = "; ".join(differences(json.loads(found[0]), json.loads(given)))
            raise UsageError(
                f"{self._out}: was begun otherwise ({changed}); give the same again to go on, or "
                "--fresh to start again"
            )

    def find(self, position: int, document: Document) -> bool:
        """Look for a document, and give it its place if it is done.

        Args:
            position: in the output, among documents and failures.
            document: as it is now.

        Raises:
            DocumentError: see `lgmgc.files.rows.metadata_json`.
        """
        found = self._one(
            "SELECT number FROM documents WHERE name = ? AND fingerprint = ?",
            *(document.id, fingerprint(document)),
        )
        if found is not None:
            self._execute("INSERT INTO places VALUES (?, ?, NULL)", position, *found)
        return found is not None

    def add(
        self,
        position: int,
        document: Document,
        rows: Iterable[bytes],
        entry: Mapping[str, object],
        counts: Mapping[str, int],
    ) -> None:
        """Note a document that is done, whole or not at all.

        Args:
            position: in the output.
            document: as it was cut.
            rows: from `lgmgc.files.rows.rows`.
            entry: what the manifest says of it.
            counts: what it took.
        """
        with self._transaction():
            number = self._execute(
                "INSERT INTO documents (name, fingerprint, entry, counts) VALUES (?, ?, ?, ?)",
                *(document.id, fingerprint(document), json.dumps(entry), json.dumps(counts)),
            ).lastrowid
            for piece, data in enumerate(_packed(rows)):
                self._execute("INSERT INTO pieces VALUES (?, ?, ?)", number, piece, data)
            self._execute("INSERT INTO places VALUES (?, ?, NULL)", position, number)

    def fail(self, position: int, entry: Mapping[str, str]) -> None:
        """Note what the manifest says of a document that failed."""
        self._execute("INSERT INTO places VALUES (?, NULL, ?)", position, json.dumps(entry))

    def number(self, position: int) -> int | None:
        """The document of a place; None for a failure."""
        found = self._one("SELECT document FROM places WHERE position = ?", position)
        return found[0] if found else None

    def documents(
        self, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Give ids and rows, in the order of places.

        Args:
            begin: the first place.
            end: one past the last; None for all.
        """
        for name, number in self._placed("name, number", begin, end):
            yield name, self._rows(number)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Give the manifest's entries of documents, in order."""
        return (json.loads(entry) for (entry,) in self._placed("entry"))

    def failures(self) -> Iterator[dict[str, Any]]:
        """Give the manifest's entries of failures, in order."""
        query = "SELECT failure FROM places WHERE document IS NULL ORDER BY position"
        return (json.loads(failure) for (failure,) in self._all(query))

    def counts(self) -> Counter[str]:
        """Add up what the documents took, in whichever run they were done."""
        total: Counter[str] = Counter()
        for (counts,) in self._placed("counts"):
            total.update(json.loads(counts))
        return total

    def shard(self, file: str) -> Shard | None:
        """What is known of a file that was written."""
        found = self._one("SELECT content, sha256, record FROM shards WHERE file = ?", file)
        if found is None:
            return None
        content, sha256, record = found
        return Shard(content, sha256, record and json.loads(record))

    def note_shard(self, file: str, shard: Shard) -> None:
        """Note a file: one without a record before it is renamed into its place."""
        record = shard.record and json.dumps(shard.record)
        self._execute(
            "INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?)",
            *(file, shard.content, shard.sha256, record),
        )

    def remove(self) -> None:
        """Close and delete it: all is done."""
        self.close()
        self._removed = True
        for tail in ("-wal", "-shm", "-journal", ""):
            self._path.with_name(self._path.name + tail).unlink(missing_ok=True)

    def close(self) -> None:
        """Close it; it stays."""
        with contextlib.suppress(sqlite3.Error):  # a full disk: what is in the log stays there
            self._connection.close()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it; one without a document is deleted."""
        empty = False
        if not self._removed:
            with contextlib.suppress(UsageError):  # the disk fails
                empty = not self.done
        if empty:
            self.remove()
        self.close()

    def _begin(self, fresh: bool) -> None:
        # Exclusive: no second run can open it, and no shared memory is needed beside it.
        self._execute("PRAGMA locking_mode = EXCLUSIVE")
        self._execute("PRAGMA journal_mode = WAL")
        self._execute("PRAGMA synchronous = NORMAL")
        with self._transaction("IMMEDIATE"):
            [version] = self._execute("PRAGMA user_version").fetchone()
            self.known = bool(version)
            if version not in (0, _VERSION) and not fresh:
                raise UsageError(
                    f"{self._out}: was begun by another version of lgmgc; give --fresh to start "
                    "again"
                )
            # Without a document done, what it was begun with binds nobody.
            if version != _VERSION or fresh or not self.done:
                for name in _TABLES:
                    self._execute(f"DROP TABLE IF EXISTS {name}")
                for name, columns in _TABLES.items():
                    self._execute(f"CREATE TABLE {name} ({columns})")
                self._execute(f"PRAGMA user_version = {_VERSION}")
            self._execute("DELETE FROM places")

    def _placed(
        self, columns: str, begin: int = 0, end: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        return self._all(
            f"SELECT {columns} FROM places JOIN documents ON number = document "
            "WHERE position >= ? AND position < ? ORDER BY position",
            *(begin, end if end is not None else 1 << 62),
        )

    def _rows(self, number: int) -> Iterator[bytes]:
        query = "SELECT data FROM pieces WHERE document = ? ORDER BY piece"
        for (data,) in self._all(query, number):
            yield from zlib.decompress(data).splitlines(keepends=True)

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            self._refuse(error)

    def _one(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        return next(self._all(query, *values), None)

    def _all(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            self._refuse(error)

    @contextlib.contextmanager
    def _transaction(self, kind: str = "DEFERRED") -> Iterator[None]:
        self._execute(f"BEGIN {kind}")
        try:
            yield
            self._execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # rolled back already where the disk is full
                self._connection.execute("ROLLBACK")
            raise

    def _refuse(self, error: sqlite3.Error) -> NoReturn:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            message = f"{self._out}: another run is writing it; wait, or choose another place"
        elif code in _REASONS:
            message = (
                f"{self._out}: cannot be written ({_REASONS[code]}); make room there, and give the "
                "same command again to go on"
            )
        else:
            message = f"{self._path}: is damaged ({error}); delete it to start again"
        raise UsageError(message) from None


def fingerprint(document: Document) -> str:
    """Hash all that a document's rows are made of, apart from its id.

    Raises:
        DocumentError: see `lgmgc.files.rows.metadata_json`.
    """
    headings = [(each.start, each.level, each.title) for each in document.headings]
    parts = (document.content_hash, metadata_json(document), document.pages, headings)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def differences(before: object, now: object, name: str = "") -> Iterator[str]:
    """Say where two JSON values differ.

    >>> list(differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}, "c": 2}))
    ['a.b: 1 → 3']
    """
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*before, *now)):
            inner = f"{name}.{key}" if name else str(key)
            yield from differences(before.get(key), now.get(key), inner)
    elif before != now:
        yield f"{name}: {_short(before)} → {_short(now)}"


def _short(value: object, most: int = 40) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= most else written[: most - 1] + "…"


def _packed(rows: Iterable[bytes]) -> Iterator[bytes]:
    """Compress rows by the megabyte, so that a long document is never in memory a second time."""
    held: list[bytes] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row)
        if size >= _PIECE:
            yield zlib.compress(b"".join(held), 1)
            held, size = [], 0
    if held:
        yield zlib.compress(b"".join(held), 1)
