"""What models answered, on disk, so that a method added to an experiment costs only that method."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from lgmgc.errors import UsageError

_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, seconds REAL NOT NULL, tokens INTEGER NOT NULL
) WITHOUT ROWID
"""
_AT_ONCE = 500
"""Keys that are asked for in one statement; SQLite allows 999 everywhere."""


class Answer(NamedTuple):
    """What a model answered, and what that cost when it was asked.

    Attributes:
        value: as bytes.
        seconds: its share of the model's time.
        tokens: what the model read and wrote for it.
    """

    value: bytes
    seconds: float
    tokens: int


class AnswerCache:
    """Answers by a hash of model and request, in one SQLite file that only its owner can read.

    It holds hashes, scores and vectors, and what models wrote; no document. A run killed at any
    moment leaves whole answers, and the next run goes on from them (law 7).
    """

    def __init__(self, path: Path) -> None:
        """Open it; make it if it is not there.

        Raises:
            UsageError: it cannot be opened, or is something else.
        """
        self._path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(path, timeout=60)
            tables = self._connection.execute("SELECT name FROM sqlite_master").fetchall()
            if tables and ("answers",) not in tables:
                raise sqlite3.DatabaseError("it holds something else")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_TABLE)

    def get(self, keys: Sequence[bytes]) -> list[Answer | None]:
        """The answers to requests, None where there is none yet.

        Raises:
            UsageError: the file cannot be read.
        """
        found: dict[bytes, Answer] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            places = ",".join("?" * len(some))
            with self._told():
                rows = self._connection.execute(
                    f"SELECT key, value, seconds, tokens FROM answers WHERE key IN ({places})", some
                )
                found |= {key: Answer(*rest) for key, *rest in rows}
        return [found.get(key) for key in keys]

    def put(self, answers: Iterable[tuple[bytes, Answer]]) -> None:
        """Keep answers, all or none.

        Raises:
            UsageError: the disk is full, or the file cannot be written.
        """
        with self._told(), self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)",
                ((key, *answer) for key, answer in answers),
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise UsageError(
                f"{self._path}: cannot be used as a cache of answers ({error}); make room there, "
                "or give another --answers"
            ) from None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._connection.close()
