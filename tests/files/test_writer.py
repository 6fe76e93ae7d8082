import errno
import hashlib
import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import UsageError
from lgmgc.files.writer import WholeFile, rows

KEYS = ["id", "document", "parent", "level", "start", "end", "words", "score"]
KEYS += ["window", "view", "text"]


def one_row(text: str, score: float | None = None) -> bytes:
    document = Document("a", text)
    [row] = rows(Tree(document, (Chunk(document, "f00d", 0, 0, len(text), 1, score),)))
    return row


def test_rows() -> None:
    document = Document("d.txt", "Eins. Zwei. Drei.")
    small = Chunk(document, "c2", 2, 0, 6, 1)
    half = Chunk(document, "c1", 1, 0, 6, 1)
    first = Chunk(document, "p1", 0, 0, 12, 2, -1.23456, (half, small))
    second = Chunk(document, "p2", 0, 12, 17, 1)
    read = [json.loads(row) for row in rows(Tree(document, (first, second)))]
    assert [list(row) for row in read] == [KEYS] * 4
    assert [tuple(row.values()) for row in read] == [
        ("p1", "d.txt", None, 0, 0, 12, 2, -1.2346, None, None, "Eins. Zwei. "),
        ("c1", "d.txt", "p1", 1, 0, 6, 1, None, None, None, "Eins. "),
        ("c2", "d.txt", "p1", 2, 0, 6, 1, None, None, None, "Eins. "),
        ("p2", "d.txt", None, 0, 12, 17, 1, None, None, None, "Drei."),
    ]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_row_is_one_line_for_everybody_and_keeps_the_text(text: str) -> None:
    row = one_row(text)
    assert row.endswith(b"\n")
    assert len(row.decode().splitlines()) == 1
    assert json.loads(row)["text"] == text


def test_text_is_readable_where_it_can_be() -> None:
    assert '"text": "é 今 \\u2028\\u2029\\u0085"' in one_row("é 今 \u2028\u2029\u0085").decode()


@pytest.mark.parametrize(
    ("score", "written"),
    [
        (-0.00001, b'"score": 0.0,'),
        (-3.5, b'"score": -3.5,'),
        (-math.inf, b'"score": null,'),
        (math.nan, b'"score": null,'),
        (None, b'"score": null,'),
    ],
)
def test_scores(score: float | None, written: bytes) -> None:
    assert written in one_row("x", score)


def test_a_file_appears_at_the_commit_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with WholeFile(path) as file:
        file.write(b"one")
        file.write(b"two")
        [temporary] = tmp_path.iterdir()
        assert temporary.name.startswith(".out.jsonl.")
        assert temporary.name.endswith(".tmp")
        file.commit()
        assert [path] == list(tmp_path.iterdir())
        assert file.sha256 == hashlib.sha256(b"onetwo").hexdigest()
    assert path.read_bytes() == b"onetwo"
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_exception_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), WholeFile(path) as file:
        file.write("no bytes")  # type: ignore[arg-type]
    assert [path] == list(tmp_path.iterdir())
    assert path.read_bytes() == b"old"


def test_no_commit_no_file(tmp_path: Path) -> None:
    with WholeFile(tmp_path / "out.jsonl") as file:
        file.write(b"new")
    assert not list(tmp_path.iterdir())


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to("real/out.jsonl")
    with WholeFile(link) as file:
        file.commit()
    assert link.is_symlink()
    assert (tmp_path / "real/out.jsonl").is_file()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none/out.jsonl", r"cannot be written \(No such file or directory\); make room"),
        ("folder", "is not a regular file"),
        ("circle", "cannot be written"),
        ("n" * 255, r"cannot be written \(File name too long\)"),
        ("/dev/null", "is not a regular file"),
        ("/proc/out.jsonl", "cannot be written"),
    ],
)
def test_places_that_are_refused_at_once(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(UsageError, match=reason) as caught:
        WholeFile(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


def test_a_failing_disk_is_a_sentence(tmp_path: Path) -> None:
    with WholeFile(tmp_path / "out.jsonl") as file:
        # The temporary file's descriptor is turned into a disk that is full.
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, file._file.fileno())
        os.close(full)
        file.write(b"x")
        with pytest.raises(UsageError, match=os.strerror(errno.ENOSPC)):
            file.commit()
    assert not list(tmp_path.iterdir())
