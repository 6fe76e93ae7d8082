"""Word, PowerPoint, Excel, EPUB and HTML."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import openpyxl  # type: ignore[import-untyped]
import pytest

from lgmgc.document import Chunk
from lgmgc.files.formats import archive, converted
from lgmgc.files.formats.patience import TooLong, at_most
from tests.files.making import FIXTURES, document, put, refusal, rezipped

ZIPS = {
    "harbour.docx": "document.xml",
    "harbour.pptx": "slide1.xml",
    "harbour.xlsx": "sheet1.xml",
    "harbour.epub": "package.opf",
}


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("harbour.docx", [(1, "The harbour"), (2, "Tides"), (2, "Storms")]),
        ("harbour.html", [(1, "The harbour"), (2, "Tides"), (2, "Storms")]),
        ("harbour.md", [(1, "The harbour"), (2, "Tides"), (2, "Storms")]),
        ("harbour.pptx", [(1, "Tides"), (1, "Storms")]),
        ("harbour.epub", [(1, "Tides"), (1, "Storms")]),
        ("harbour.xlsx", [(2, "Tides"), (2, "Lights")]),
    ],
)
def test_headings(name: str, titles: list[tuple[int, str]]) -> None:
    read = document(FIXTURES / name)
    assert [(heading.level, heading.title) for heading in read.headings] == titles
    at = read.text.index("It is read")
    above = [title for _, title in titles if title in ("The harbour", "Tides")]
    assert Chunk(read, "", 0, at, at + 5, 1).headings == tuple(above)


def test_html_is_text_and_nothing_is_run_or_fetched() -> None:
    text = document(FIXTURES / "harbour.html").text
    assert "never run" not in text
    assert "navy" not in text
    assert "![The pier](https://example.invalid/pier.png)" in text  # sockets are closed in tests


def test_html_in_another_encoding(tmp_path: Path) -> None:
    path = put(tmp_path / "a.html", "<p>Café".encode("latin-1"))
    assert document(path, encoding="latin-1").text == "Café"
    assert refusal(path).startswith("byte 0xE9 at offset 6 is not valid utf-8; ")


def test_a_table_keeps_long_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["name", "long " * 500])
    assert "long " * 499 in document(put(tmp_path / "a.xlsx", _saved(book))).text


@pytest.mark.parametrize(("name", "part"), ZIPS.items())
def test_a_bomb(tmp_path: Path, name: str, part: str) -> None:
    data = rezipped(FIXTURES / name, part, lambda old: old + b" " * (65 << 20))
    assert len(data) < 1 << 20
    assert refusal(put(tmp_path / name, data)) == (
        "unpacks to 65 MiB of markup, more than 64; split it first"
    )


def _entity(encoding: str) -> Callable[[bytes], bytes]:
    def changed(part: bytes) -> bytes:
        text = part.decode()
        text = text[text.index("?>") + 2 :] if text.startswith("<?xml") else text
        return f'<!DOCTYPE x [<!-- > --><!ENTITY a "ha">]>{text}'.encode(encoding)

    return changed


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(("name", "part"), ZIPS.items())
def test_entities(tmp_path: Path, name: str, part: str, encoding: str) -> None:
    data = rezipped(FIXTURES / name, part, _entity(encoding))
    assert refusal(put(tmp_path / name, data)) == (
        "declares XML entities, which can hide a bomb; open it in the program that made it and "
        "save it anew"
    )


@pytest.mark.parametrize("name", ZIPS)
def test_a_password_or_an_old_format(tmp_path: Path, name: str) -> None:
    path = put(tmp_path / name, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
    assert refusal(path) == (
        "is locked with a password, or of the format before 2007; save it as "
        f"{path.suffix} without a password"
    )


def test_media_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MARKUP", 1 << 17)
    path = FIXTURES / "harbour.pptx"
    assert b".jpeg" in path.read_bytes()
    data = rezipped(path, ".jpeg", lambda old: bytes(1 << 20))
    assert document(put(tmp_path / "a.pptx", data)).text == document(path).text


def test_two_cells_far_apart(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "here", "there"
    assert refusal(put(tmp_path / "a.xlsx", _saved(book))).startswith("spans more than 500,000 ")


def test_html_that_takes_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.html", "<a " * 60_000)  # the parser's time grows with its square
    monkeypatch.setattr(converted, "SECONDS", 0.2)
    assert refusal(path).startswith("took more than 0.2 seconds to read; split it first, ")


def test_html_that_is_too_deep_loses_its_structure_only(tmp_path: Path) -> None:
    path = put(tmp_path / "a.html", "<div>" * 3000 + "<h1>Deep</h1>" + "</div>" * 3000)
    assert document(path).text == "Deep"


def test_time_that_is_not_up() -> None:
    with at_most(100):
        pass
    with pytest.raises(TooLong), at_most(0.01):
        time.sleep(5)


def _saved(book: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
