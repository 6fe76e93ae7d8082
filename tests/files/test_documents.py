"""Every format through the one door; what each reads is in tests/files/formats."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lgmgc.files.documents import _ROWS, _WHOLE, Failure, Opened, Reading, documents
from lgmgc.files.reader import SUFFIXES, find
from tests.files.making import FIXTURES, document, found, put, refusal

TIDES = "The tide gauge stands at the end of the pier. It is read four times a day."
STORMS = "In a storm the water rises by two metres. The gates are closed then."
ONE_EACH = [path for path in sorted(FIXTURES.iterdir()) if path.name.startswith("harbour")]


def test_a_folder_is_searched_for_all_that_can_be_read() -> None:
    known = {".txt", *_WHOLE, *_ROWS}
    assert {suffix.removesuffix(".gz") for suffix in SUFFIXES} == known
    have = {"".join(path.suffixes) for path in FIXTURES.iterdir()} | {".htm", ".htm.gz"}
    assert have == set(SUFFIXES)


@pytest.mark.parametrize("path", ONE_EACH, ids=lambda path: path.name)
def test_one_document_a_file(path: Path) -> None:
    [read] = found(path)
    assert isinstance(read, Opened)
    assert (read.document.id, read.place) == (str(path), str(path))
    assert read.size == path.stat().st_size
    if path.suffix != ".pdf":
        assert TIDES in read.document.text
        assert STORMS in read.document.text


@pytest.mark.parametrize("name", ["harbour.txt", "harbour.md", "harbour.html"])
def test_packed_is_as_unpacked(name: str) -> None:
    packed, unpacked = document(FIXTURES / f"{name}.gz"), document(FIXTURES / name)
    assert (packed.text, packed.headings) == (unpacked.text, unpacked.headings)


def test_plain_text_and_markdown_are_the_bytes() -> None:
    for name in ("harbour.txt", "harbour.md"):
        assert document(FIXTURES / name).text == (FIXTURES / name).read_text()


def test_any_name_is_plain_text(tmp_path: Path) -> None:
    text = "# One\r\n\r\n{} <p>"
    for name in ("README", "a.log", "a.rst"):
        read = document(put(tmp_path / name, text))
        assert (read.text, read.headings, read.pages) == (text, (), ())
    assert document(put(tmp_path / "a.MD", text)).headings[0].title == "One"


def test_ids_are_given_once_in_a_run(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", '{"id": "x", "text": "1"}\n\n{"id": "x", "text": "2"}\n')
    put(tmp_path / "b.csv", "id,text\ny,3\nx,4\n")
    seen: set[str] = set()
    read = [each for source in find([str(tmp_path)]) for each in documents(source, Reading(), seen)]
    assert [e.message if isinstance(e, Failure) else e.document.text for e in read] == [
        "1",
        f"{tmp_path}/a.jsonl: line 3: has the id 'x' of a document before it; give it its own",
        "3",
        f"{tmp_path}/b.csv: row 2: has the id 'x' of a document before it; give it its own",
    ]
    assert seen == {"x", "y"}


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".parquet", ".gz"])
def test_torn_and_foreign_files(tmp_path: Path, suffix: str) -> None:
    for path in sorted(FIXTURES.glob(f"*{suffix}")):
        data = path.read_bytes()
        torn = [data[: len(data) // 2], b"", b"Plain text.", data[len(data) // 3 :]]
        for each in torn if suffix != ".gz" else torn[:1]:
            [only] = found(put(tmp_path / path.name, each))
            assert isinstance(only, Failure)
            assert only.message.startswith(f"{tmp_path / path.name}: is ")
            assert only.size <= len(each)
            assert "tide" not in only.message


@pytest.mark.parametrize(
    ("library", "name", "extra"),
    [
        ("pypdfium2", "harbour.pdf", "pdf"),
        ("markitdown", "harbour.html", "office"),
        ("markitdown", "harbour.docx", "office"),
        ("openpyxl", "harbour.xlsx", "office"),
        ("pyarrow", "rows.parquet", "parquet"),
    ],
)
def test_libraries_that_are_not_installed(
    monkeypatch: pytest.MonkeyPatch, library: str, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    suffix = Path(name).suffix
    assert refusal(FIXTURES / name) == (
        f"reading {suffix} takes libraries that are not installed; pip install 'lgmgc[{extra}]'"
    )


def test_normalized_only_when_asked(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", '{"text": "o\ufb03ce\\r\\n"}\n{"text": "co\u00adworker"}')
    for asked, texts in (
        (False, ["o\ufb03ce\r\n", "co\u00adworker"]),
        (True, ["office\n", "coworker"]),
    ):
        read = found(path, normalize=asked)
        assert [e.document.text for e in read if isinstance(e, Opened)] == texts
