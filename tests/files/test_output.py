"""Files and folders put together from the journal."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.files.journal import Journal
from lgmgc.files.output import Output, Place, apart, opened, place
from lgmgc.files.reader import find
from lgmgc.files.shape import Shape


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def described(output: dict[str, object]) -> list[bytes]:
    return [json.dumps(output).encode()]


def put(journal: Journal, output: Output, names: Iterable[str]) -> None:
    for position, name in enumerate(names):
        document = Document(name, name)
        if not journal.find(position, document):
            journal.add(position, document, [f'"{name}"\n'.encode()], {}, {})
        output.settled(position + 1)


@contextmanager
def run(to: Place, names: str, *, fresh: bool = False) -> Iterator[Output]:
    with opened(to, fresh=fresh) as (journal, output):
        put(journal, output, names)
        yield output


def shards(folder: Path) -> dict[str, str]:
    return {
        path.name: path.read_text().replace('"', "").replace("\n", "")
        for path in sorted(folder.glob("part-*"))
    }


def test_places(here: Path) -> None:
    (here / "there").mkdir()
    assert place("a.jsonl") == Place("a.jsonl", here / "a.jsonl", Shape())
    assert place("chunks").shape == Shape("jsonl")
    assert place("a.CSV", only="parents").shape == Shape("csv", "parents")
    assert place("new/") == Place("new/", here / "new", Shape(), 1000)
    assert place("there", "parquet", shard=5) == Place("there", here / "there", Shape("parquet"), 5)
    assert place("a.jsonl").manifest == here / "a.jsonl.manifest.json"
    assert place("a.jsonl").journal == here / ".a.jsonl.partial"
    assert place("there").manifest == here / "there/chunks.manifest.json"
    assert place("there").journal == here / "there/.partial"
    assert place("a.jsonl").decides == {"format": "jsonl", "only": None, "nest": False}
    assert place("there", shard=5).decides["shard_documents"] == 5


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("", "--out '' names no file"),
        ("chunks.tsv", "--out chunks.tsv: end its name with .jsonl, .parquet, .csv, or with /"),
        ("/dev/null", "/dev/null: is not a regular file"),
        ("circle.jsonl", "circle.jsonl: cannot be written"),
    ],
)
def test_places_that_cannot_be(here: Path, out: str, message: str) -> None:
    (here / "circle.jsonl").symlink_to("circle.jsonl")
    with pytest.raises(UsageError) as caught:
        place(out)
    assert str(caught.value).startswith(message)


def test_options_of_folders_are_refused_for_files() -> None:
    for options in ({"format": "csv"}, {"shard": 5}):
        with pytest.raises(UsageError, match="are for a folder, whose name ends with /"):
            place("a.jsonl", **options)


def test_documents_are_not_written_over_and_shards_not_read(here: Path) -> None:
    for name in ("a.jsonl", "b.txt", "part-00000.jsonl", "part-00001.csv"):
        (here / name).write_text("x")
    sources = find(["."])
    with pytest.raises(UsageError, match=r"a\.jsonl: is one of the documents"):
        apart(sources, place("a.jsonl"))
    assert apart(sources, place("c.jsonl")) == sources
    assert [each.id for each in apart(sources, place("."))] == ["./a.jsonl", "./b.txt"]


def test_a_file(here: Path) -> None:
    with run(place("a.jsonl"), "abc") as output:
        assert not (here / "a.jsonl").exists()
        output.finish(described)
    assert (here / "a.jsonl").read_text() == '"a"\n"b"\n"c"\n'
    assert {path.name for path in here.iterdir()} == {"a.jsonl", "a.jsonl.manifest.json"}
    made = json.loads((here / "a.jsonl.manifest.json").read_text())
    assert (made["file"], len(made["sha256"])) == ("a.jsonl", 64)


def test_shards_come_one_by_one_and_are_not_written_again(here: Path) -> None:
    to = place("out/", shard=2)
    with run(to, "abcde"):
        assert shards(here / "out") == {"part-00000.jsonl": "ab", "part-00001.jsonl": "cd"}
        before = [path.stat().st_ino for path in sorted((here / "out").glob("part-*"))]
    # A kill may leave temporary files of what comes next.
    (here / "out/.part-00002.jsonl.x1.tmp").touch()
    (here / "out/.chunks.manifest.json.x1.tmp").touch()
    with run(to, "abcde") as output:
        output.finish(described)
    assert shards(here / "out") == {
        "part-00000.jsonl": "ab",
        "part-00001.jsonl": "cd",
        "part-00002.jsonl": "e",
    }
    after = [path.stat().st_ino for path in sorted((here / "out").glob("part-*"))]
    assert after[:2] == before
    names = {path.name for path in (here / "out").iterdir()}
    assert names == {*shards(here / "out"), "chunks.manifest.json"}
    made = json.loads((here / "out/chunks.manifest.json").read_text())
    assert [shard["documents"] for shard in made["shards"]] == [2, 2, 1]


def test_shards_that_are_not_as_they_were_are_written_again(here: Path) -> None:
    to = place("out/", shard=2)
    with run(to, "abcde"):
        pass
    (here / "out/part-00000.jsonl").unlink()
    (here / "out/part-00001.jsonl").write_text("changed")
    with run(to, "abxde") as output:
        output.finish(described)
    assert list(shards(here / "out").values()) == ["ab", "xd", "e"]


def test_failures_do_not_count_in_shards(here: Path) -> None:
    with opened(place("out/", shard=2)) as (journal, output):
        put(journal, output, "a")
        journal.fail(1, {"id": "f", "message": ""})
        journal.add(2, Document("b", "b"), [b'"b"\n'], {}, {})
        output.settled(3)
        assert shards(here / "out") == {"part-00000.jsonl": "ab"}


def test_an_earlier_run_stays_until_the_first_shard_and_goes_in_the_end(here: Path) -> None:
    to = place("out/", shard=1)
    with run(to, "abc") as output:
        output.finish(described)
    manifest = here / "out/chunks.manifest.json"
    with run(place("out/", shard=2), "x"):
        assert manifest.exists()
        assert list(shards(here / "out").values()) == ["a", "b", "c"]
    with run(place("out/", shard=2), "xy"):
        assert not manifest.exists()  # the folder is not whole now
    with run(place("out/", shard=2), "xy") as output:
        output.finish(described)
    assert manifest.exists()
    assert list(shards(here / "out").values()) == ["xy"]


def test_shards_of_somebody_else_are_not_touched(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out/part-00000.parquet").write_text("theirs")
    with (
        pytest.raises(UsageError, match=r"^out: has files such as part-00000\.parquet that no"),
        run(place("out"), "a"),
    ):
        pass
    assert [path.name for path in (here / "out").iterdir()] == ["part-00000.parquet"]


def test_a_folder_in_which_nothing_was_done_goes_again(here: Path) -> None:
    with run(place("out/"), ""):
        assert (here / "out").stat().st_mode & 0o777 == 0o700
    assert not (here / "out").exists()
    with (
        pytest.raises(UsageError, match=r"^none/out: cannot be written"),
        run(place("none/out/"), ""),
    ):
        pass
    (here / "file").touch()
    with pytest.raises(UsageError, match=r"^file/?: cannot be written"), run(place("file/"), ""):
        pass


@pytest.mark.parametrize("out", ["a.jsonl", "out/"])
def test_a_full_disk_leaves_a_journal_to_go_on_from(here: Path, out: str) -> None:
    to = place(out)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(to) as (journal, output):
        for position in range(9):
            rows = [b'"' + b"x" * 99_999 + b'"\n']
            journal.add(position, Document(str(position), ""), rows, {}, {})
        output.settled(9)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, limits[1]))
        try:
            with pytest.raises(
                UsageError, match=r"cannot be written \(File too large\); make room"
            ):
                output.finish(described)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    left = {path.name for path in here.rglob("*") if path.is_file()}
    assert left == {to.journal.name}
    with opened(to) as (journal, output):
        assert journal.resumed == 9
        assert all(journal.find(k, Document(str(k), "")) for k in range(9))
        output.settled(9)
        output.finish(described)
    written = here / ("a.jsonl" if out == "a.jsonl" else "out/part-00000.jsonl")
    assert written.stat().st_size == 9 * 100_002
