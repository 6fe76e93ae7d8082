from __future__ import annotations

from pathlib import Path

import pytest

from lgmgc.document import Chunk
from lgmgc.files.formats import pdf
from tests.files.making import FIXTURES, document, put, refusal

HARBOUR = FIXTURES / "harbour.pdf"
PAGES = [
    "Harbour handbook, page 1\r\nThe harbour has an office.\r\n"
    "It is open for infor\x02mation all day.",
    "Harbour handbook, page 2\r\nThe tide gauge stands at the end\r\nof the pier.",
    "Harbour handbook, page 3\r\nIn a storm the water rises.\r\nThe gates are closed then.",
    "Harbour handbook, page 4\r\nA green light marks the entrance.",
]


def test_pages() -> None:
    read = document(HARBOUR)
    assert read.text == "\n".join(PAGES)
    assert read.pages == (0, 91, 164, 246)
    ends = [*read.pages[1:], len(read.text)]
    spans = list(zip(read.pages, ends, strict=True))
    assert [Chunk(read, "", 0, *span, 1).pages for span in spans] == [(n, n) for n in (1, 2, 3, 4)]
    assert Chunk(read, "", 0, 70, 170, 1).pages == (1, 3)


def test_normalized() -> None:
    read = document(HARBOUR, normalize=True)
    assert read.text == (
        "The harbour has an office.\nIt is open for information all day.\n"
        "The tide gauge stands at the end\nof the pier.\n"
        "In a storm the water rises.\nThe gates are closed then.\n"
        "A green light marks the entrance."
    )
    assert [read.text[start:][:5] for start in read.pages] == ["The h", "The t", "In a ", "A gre"]


def test_images_and_no_text() -> None:
    assert refusal(FIXTURES / "scan.pdf") == (
        "holds no text, only images; run OCR first, for example ocrmypdf"
    )


def test_blank_pages(tmp_path: Path) -> None:
    blank = (FIXTURES / "scan.pdf").read_bytes().replace(b"/Contents", b"/Nothing_")
    read = document(put(tmp_path / "a.pdf", blank))
    assert (read.text, read.pages) == ("", ())


def test_a_password() -> None:
    assert refusal(FIXTURES / "locked.pdf") == (
        "is locked with a password; take it off first, for example with qpdf --decrypt"
    )


def test_a_million_pages(tmp_path: Path) -> None:
    data = HARBOUR.read_bytes().replace(b"/Count 4", b"/Count 1000000")
    assert refusal(put(tmp_path / "a.pdf", data)) == (
        "has 1,000,000 pages, more than 50,000; split it first"
    )


def test_more_text_than_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "CHARACTERS", 100)
    assert refusal(HARBOUR) == "holds more than 100 characters; split it first"


def test_a_page_that_is_missing(tmp_path: Path) -> None:
    data = HARBOUR.read_bytes().replace(b"10 0 R", b"99 0 R")  # the third of the four
    assert refusal(put(tmp_path / "a.pdf", data)).startswith("page 3 is damaged (PdfiumError); ")


def test_torn_after_the_first_pages(tmp_path: Path) -> None:
    data = HARBOUR.read_bytes()
    torn = put(tmp_path / "a.pdf", data[: data.index(b"12 0 obj")])
    assert refusal(torn) == "is torn, or no PDF: its end is missing; copy it again"
    padded = put(tmp_path / "a.pdf", data + b"\r\n\0" * 2000)
    assert document(padded).text == "\n".join(PAGES)
