import os
import sqlite3
import stat
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.retrieval import Index

from .fake import Bag, paragraphs


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "an index? #1 50%.db"


def refusal(path: Path, create: bool = False) -> str:
    with pytest.raises(UsageError) as error:
        Index.open(path, create=create, timeout=0.1)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    return message[len(f"{path}: ") :]


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_only_the_owner_can_read(path: Path) -> None:
    before = os.umask(0)
    try:
        with Index.open(path, Bag(), create=True) as index:
            index.add([paragraphs("d", "sea")])
            names = (path.name, f"{path.name}-wal", f"{path.name}-shm")
            assert modes(path.parent) == dict.fromkeys(names, 0o600)
        assert modes(path.parent) == {path.name: 0o600}
    finally:
        os.umask(before)


def test_an_index_that_is_not_there(path: Path) -> None:
    assert refusal(path) == f"there is no index; make it with `lgmgc index PATH… --db {path}`"
    assert not path.exists()
    assert refusal(path.parent).startswith("there is no index")
    assert refusal(path.parent, create=True).startswith("cannot be written (Is a directory)")
    assert "No such file" in refusal(path / "x.db", create=True)


def test_an_empty_file_is_filled(path: Path) -> None:
    path.touch(0o600)  # what a kill right after its making leaves
    assert refusal(path) == f"is empty; fill it with `lgmgc index PATH… --db {path}`"
    with Index.open(path, create=True) as index:
        index.add([paragraphs("d", "sea")])
    with Index.open(path) as index:
        assert index.counts().documents == 1


def test_what_is_no_index(path: Path) -> None:
    path.write_text("Once upon a time there was a text file of more than sixteen bytes.\n" * 99)
    told = "is not an index; give the file that `lgmgc index` made, or a new name"
    assert refusal(path) == refusal(path, create=True) == told
    assert path.read_text().startswith("Once upon")


def test_another_programs_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE documents (id)")
    connection.close()
    before = path.read_bytes()
    told = "is another program's database; choose another file for --db"
    assert refusal(path) == refusal(path, create=True) == told
    assert path.read_bytes() == before


def test_another_version(path: Path) -> None:
    Index.open(path, create=True).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert refusal(path) == (
        "has schema version 7 where this lgmgc reads 2; delete it and index again, or use the "
        "lgmgc that made it"
    )


def test_a_locked_index(path: Path) -> None:
    Index.open(path, create=True).close()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    busy = "another process is writing to it; try again when that is done"
    assert refusal(path, create=True) == busy
    with Index.open(path, timeout=0.1) as index:  # reading goes on
        assert index.counts().documents == 0
        with pytest.raises(UsageError, match="another process is writing to it"):
            index.add([paragraphs("d", "sea")])
        writer.execute("ROLLBACK")
        index.add([paragraphs("d", "sea")])
        assert index.counts().documents == 1
    writer.close()


def test_a_damaged_index(path: Path) -> None:
    with Index.open(path, create=True) as index:
        index.add([paragraphs(f"d{k}", "sea boat " * 50) for k in range(20)])
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    assert refusal(path) == "is damaged; delete it and index again"


def test_a_full_disk_changes_nothing(path: Path) -> None:
    with Index.open(path, create=True) as index:
        index.add([paragraphs("d", "sea")])
        index._connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the size it has
        with pytest.raises(UsageError, match="the disk is full; make room there"):
            index.add([paragraphs("d", *(f"boat {k}" for k in range(5000)))])
        assert index.document_text("d") == "sea\n"
        assert len(index.search("sea", mode="lexical")) == 1


def test_a_query_that_fails_is_no_usage_error(path: Path) -> None:
    index = Index.open(path, create=True)
    index.close()
    with pytest.raises(sqlite3.ProgrammingError):
        index.counts()
