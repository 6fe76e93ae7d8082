import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.answer_cache import Answer, AnswerCache

ANSWER = Answer(b"\0\xffvalue", 0.25, 7)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_answers_in_the_order_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.db"
    with AnswerCache(path) as cache:
        assert cache.get([]) == []
        assert cache.get([key(1)]) == [None]
        cache.put([(key(1), ANSWER), (key(2), Answer(b"", 0.0, 0))])
    with AnswerCache(path) as again:
        assert again.get([key(2), key(3), key(1), key(2)]) == [
            Answer(b"", 0.0, 0), None, ANSWER, Answer(b"", 0.0, 0),
        ]  # fmt: skip


def test_the_first_answer_stays(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.db") as cache:
        cache.put([(key(1), ANSWER)])
        cache.put([(key(1), Answer(b"later", 9.0, 9))])
        assert cache.get([key(1)]) == [ANSWER]


def test_more_keys_than_one_statement_takes(tmp_path: Path) -> None:
    with AnswerCache(tmp_path / "a.db") as cache:
        cache.put((key(k), Answer(str(k).encode(), 0.0, k)) for k in range(0, 1201, 2))
        found = cache.get([key(k) for k in range(1201)])
    assert [each and each.tokens for each in found] == [None if k % 2 else k for k in range(1201)]


def test_an_interrupted_put_keeps_none_of_its_answers(tmp_path: Path) -> None:
    def interrupted() -> object:
        yield key(1), ANSWER
        raise KeyboardInterrupt

    with AnswerCache(tmp_path / "a.db") as cache:
        with pytest.raises(KeyboardInterrupt):
            cache.put(interrupted())  # type: ignore[arg-type]
        assert cache.get([key(1)]) == [None]


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with AnswerCache(tmp_path / "a.db") as cache:
            cache.put([(key(1), ANSWER)])
            modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
            assert {file.name for file in tmp_path.iterdir()} >= {"a.db", "a.db-wal"}
    finally:
        os.umask(before)
    assert modes == {0o600}


WRITE = """
import sys
from pathlib import Path
from lgmgc.evaluation.answer_cache import Answer, AnswerCache
with AnswerCache(Path(sys.argv[1])) as cache:
    print("open", flush=True)
    sys.stdin.readline()
    for k in range(100, 300):
        cache.put([(k.to_bytes(32, "big"), Answer(b"theirs", 0.0, k))])
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = subprocess.Popen(
        [sys.executable, "-c", WRITE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == b"open\n"
    with AnswerCache(path) as cache:
        other.stdin.write(b"\n")
        other.stdin.flush()
        for k in range(200):
            cache.put([(key(k), Answer(b"ours", 0.0, k))])
        other.communicate(timeout=60)
        assert other.returncode == 0
        found = cache.get([key(k) for k in range(300)])
    assert [each.tokens for each in found if each] == list(range(300))


@pytest.mark.parametrize("content", [b"A diary, nothing else.\n" * 99, b"{}"])
def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "diary.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        AnswerCache(path)
    assert str(raised.value) == (
        f"{path}: cannot be used as a cache of answers (file is not a database); make room there, "
        "or give another --answers"
    )
    assert path.read_bytes() == content


def test_a_database_of_something_else_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE chunks (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"index\.db: cannot .* holds something else"):
        AnswerCache(path)
    assert path.read_bytes() == before


def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "a.db", tmp_path):
        with pytest.raises(UsageError) as raised:
            AnswerCache(path)
        assert str(raised.value).startswith(f"{path}: cannot be used as a cache of answers (")


def test_a_file_that_is_broken_later_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with AnswerCache(path) as cache:
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE answers")
        connection.close()
        with pytest.raises(UsageError, match=r"a\.db: cannot be used as a cache of answers"):
            cache.get([key(1)])
        with pytest.raises(UsageError, match=r"a\.db: cannot be used as a cache of answers"):
            cache.put([(key(1), ANSWER)])
