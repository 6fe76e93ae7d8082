"""The journal: what is done is found again, and nothing half of it is ever there."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from lgmgc.document import Document, Heading
from lgmgc.errors import DocumentError, UsageError
from lgmgc.files.journal import Journal, differences, fingerprint

ROWS = [b'{"text": "one"}\n', b'{"text": "two"}\n']


def journal(folder: Path, *, fresh: bool = False) -> Journal:
    return Journal(folder / ".o.jsonl.partial", "o.jsonl", fresh=fresh)


def put(to: Journal, position: int, name: str, text: str = "x") -> None:
    to.add(position, Document(name, text), ROWS, {"id": name}, {"words": 2})


def test_what_is_done_is_found_by_the_next_run(tmp_path: Path) -> None:
    with journal(tmp_path) as first:
        put(first, 0, "a")
        put(first, 1, "b")
        first.fail(2, {"id": "c", "message": "c: is binary"})
    with journal(tmp_path) as second:
        assert second.resumed == 2
        assert list(second.documents()) == []  # the order is of this run
        second.fail(0, {"id": "d", "message": "d: is binary"})
        assert second.find(1, Document("b", "x"))
        assert not second.find(2, Document("c", "x"))
        put(second, 2, "c")
        assert second.find(3, Document("a", "x"))
        assert [(name, list(rows)) for name, rows in second.documents()] == [
            (name, ROWS) for name in "bca"
        ]
        assert [name for name, _ in second.documents(2, 3)] == ["c"]
        assert [second.number(k) is None for k in range(4)] == [True, False, False, False]
        assert [entry["id"] for entry in second.entries()] == ["b", "c", "a"]
        assert list(second.failures()) == [{"id": "d", "message": "d: is binary"}]
        assert second.counts() == Counter({"words": 6})


def test_another_document_is_not_found(tmp_path: Path) -> None:
    given = Document("a", "x y", {"k": 1}, (0, 2), (Heading(0, 1, "x"),))
    others = [
        Document("b", "x y", {"k": 1}, (0, 2), (Heading(0, 1, "x"),)),
        Document("a", "x z", {"k": 1}, (0, 2), (Heading(0, 1, "x"),)),
        Document("a", "x y", {"k": 2}, (0, 2), (Heading(0, 1, "x"),)),
        Document("a", "x y", {"k": 1}, (0, 3), (Heading(0, 1, "x"),)),
        Document("a", "x y", {"k": 1}, (0, 2), (Heading(0, 2, "x"),)),
    ]
    with journal(tmp_path) as kept:
        kept.add(0, given, ROWS, {}, {})
        assert not any(kept.find(9, other) for other in others)
        assert kept.find(1, given)
    with pytest.raises(DocumentError):
        fingerprint(Document("a", "x", {"k": float("nan")}))


def test_a_document_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def torn() -> list[bytes]:
        raise KeyboardInterrupt

    with journal(tmp_path) as kept:
        put(kept, 0, "a")
        with pytest.raises(KeyboardInterrupt):
            kept.add(1, Document("b", "x"), (row for row in (*ROWS, *torn())), {}, {})
        assert kept.done == 1
        put(kept, 1, "b")
        assert [name for name, _ in kept.documents()] == ["a", "b"]


def test_rows_of_many_megabytes(tmp_path: Path) -> None:
    long = [json.dumps({"text": f"{k}\r" + "x" * 9_999}).encode() + b"\n" for k in range(300)]
    with journal(tmp_path) as kept:
        kept.add(0, Document("a", "x"), iter(long), {}, {})
        [(_, rows)] = kept.documents()
        assert list(rows) == long
        [count] = kept._connection.execute("SELECT count(*) FROM pieces").fetchone()
        assert count == 3  # so that a document's rows are never in memory all at once


def test_what_it_was_begun_with(tmp_path: Path) -> None:
    with journal(tmp_path) as first:
        first.require("configuration", {"theta": 300, "prompt": "x" * 99, "parts": (2, 4)})
        first.require("configuration", {"theta": 300, "prompt": "x" * 99, "parts": [2, 4]})
        put(first, 0, "a")
    with journal(tmp_path) as second, pytest.raises(UsageError) as caught:
        second.require("configuration", {"theta": 200, "prompt": "x" * 98, "parts": [2, 4]})
    x = "x" * 38
    assert str(caught.value) == (
        f'o.jsonl: was begun otherwise (theta: 300 → 200; prompt: "{x}… → "{x}…); give the same '
        "again to go on, or --fresh to start again"
    )
    with journal(tmp_path) as third:
        assert third.resumed == 1  # a refusal loses nothing
    with journal(tmp_path, fresh=True) as fourth:
        assert (fourth.resumed, fourth.known) == (0, True)
        fourth.require("configuration", {"theta": 200})
    assert not list(tmp_path.iterdir())


def test_differences() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": None}
    now = {"a": {"b": 1}, "d": {"e": 1}, "f": True}
    told = ["a.c: 2 → null", 'd: null → {"e": 1}', "f: null → true"]
    assert list(differences(before, now)) == told


def test_without_a_document_done_nothing_stays_and_nothing_binds(tmp_path: Path) -> None:
    first = journal(tmp_path)
    first.require("configuration", {"theta": 300})
    first.close()  # as a kill would
    with journal(tmp_path) as second:
        assert (second.resumed, second.known) == (0, True)
        second.require("configuration", {"theta": 200})
        second.fail(0, {"id": "c", "message": ""})
    assert not list(tmp_path.iterdir())


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    with journal(tmp_path) as kept:
        put(kept, 0, "a")
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
        kept.remove()
    assert not list(tmp_path.iterdir())


def test_two_runs_at_once(tmp_path: Path) -> None:
    with journal(tmp_path) as first:
        put(first, 0, "a")
        with pytest.raises(UsageError, match=r"^o\.jsonl: another run is writing it; wait"):
            journal(tmp_path, fresh=True)
        assert first.done == 1


def test_files_that_are_no_journal(tmp_path: Path) -> None:
    path = tmp_path / ".o.jsonl.partial"
    path.write_bytes(b"something else " * 99)
    with pytest.raises(UsageError, match=r"partial: is damaged .*; delete it to start again"):
        journal(tmp_path)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(UsageError, match="by another version of lgmgc; give --fresh"):
        journal(tmp_path)
    with journal(tmp_path, fresh=True) as begun:
        put(begun, 0, "a")
