import errno
import hashlib
import os
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.files.whole_file import WholeFile, remove_left


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


def test_what_killed_runs_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    names = (".a.jsonl.x1y2.tmp", ".b.jsonl.x1y2.tmp", "a.jsonl", ".a.jsonl.partial")
    for name in names:
        (tmp_path / name).touch()
    remove_left(tmp_path / "a.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
