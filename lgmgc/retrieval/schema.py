"""The file of an index: how it is made, opened and checked, and what its errors mean to a user."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lgmgc.errors import UsageError

VERSION = 2
APPLICATION = 0x6C676D63
"""What SQLite keeps in a file's header to tell whose it is: "lgmc" in ASCII."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    content_hash TEXT NOT NULL,
    configuration TEXT NOT NULL,
    words INTEGER NOT NULL,
    text TEXT NOT NULL,
    layout TEXT NOT NULL  -- JSON: where pages begin, and headings
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    parent INTEGER NOT NULL,  -- its own id for a parent
    chunk TEXT NOT NULL,
    level INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    window_start INTEGER,
    window_stop INTEGER,
    view TEXT
);
CREATE INDEX chunks_of_document ON chunks (document);
CREATE TABLE vectors (document INTEGER PRIMARY KEY, vectors BLOB NOT NULL, scales BLOB NOT NULL);
CREATE VIRTUAL TABLE terms USING fts5 (
    text, content='', tokenize='unicode61 remove_diacritics 2'
);
"""

_MEANING = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; try again when that is done",
    sqlite3.SQLITE_LOCKED: "another process is writing to it; try again when that is done",
    sqlite3.SQLITE_NOTADB: "is not an index; give the file that `lgmgc index` made, or a new name",
    sqlite3.SQLITE_CORRUPT: "is damaged; delete it and index again",
    sqlite3.SQLITE_FULL: "the disk is full; make room there",
    sqlite3.SQLITE_READONLY: "cannot be written to; SQLite writes beside it even to read, so make "
    "the file and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; SQLite writes beside it even to read, so make the "
    "file and its folder writable",
}


def connect(path: Path, settings: Mapping[str, str] | None, timeout: float) -> sqlite3.Connection:
    """Open an index.

    The file is readable by its owner only from its first byte on, and so are those that SQLite puts
    beside it, which take over its mode.

    Args:
        path: the file.
        settings: what `meta` holds if the file has to be made; None: it must be there.
        timeout: seconds to wait for another writer.

    Raises:
        UsageError: it is missing, of another version, of another program, damaged or locked.
    """
    if settings is not None:
        _touch(path)
    elif not path.is_file():
        raise UsageError(f"{path}: there is no index; make it with `lgmgc index PATH… --db {path}`")
    with explained(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            with transaction(connection, "DEFERRED" if settings is None else "IMMEDIATE"):
                _prepare(connection, path, settings)
            # Here, as it cannot be done in a transaction, so it may have been missed by a kill.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    """All or nothing: one state to read from, or changes that others see at once or never."""
    try:
        connection.execute(f"BEGIN {kind}")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # it may not have begun, or have ended by itself
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one sentence that names the file and the remedy.

    Raises:
        UsageError: SQLite failed.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        unknown = (
            f"SQLite {sqlite3.sqlite_version} fails ({error}); use a Python whose SQLite is 3.38 "
            "or newer and has FTS5, or index into another file"
        )
        raise UsageError(f"{path}: {_MEANING.get(code, unknown)}") from error


def _touch(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); choose another place for --db"
        ) from error


def _prepare(
    connection: sqlite3.Connection, path: Path, settings: Mapping[str, str] | None
) -> None:
    """Check whose file it is, and make the tables in an empty one."""
    [application] = connection.execute("PRAGMA application_id").fetchone()
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == APPLICATION:
        if version != VERSION:
            raise UsageError(
                f"{path}: has schema version {version} where this lgmgc reads {VERSION}; delete it "
                "and index again, or use the lgmgc that made it"
            )
    elif tables:
        raise UsageError(f"{path}: is another program's database; choose another file for --db")
    elif settings is None:
        raise UsageError(f"{path}: is empty; fill it with `lgmgc index PATH… --db {path}`")
    else:
        # Not executescript, which would commit first.
        for statement in _TABLES.split(";\n"):
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", settings.items())
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
