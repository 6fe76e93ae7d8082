import os
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.errors import DocumentError, UsageError
from lgmgc.files.reader import Source, check_encoding, find, read


def put(path: Path, data: bytes = b"Text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def ids(*paths: str) -> list[str]:
    return [source.id for source in find(paths)]


def text_of(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    [source] = find([str(path)])
    return read(source, encoding, errors).text


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_its_texts_sorted_without_what_is_hidden(here: Path) -> None:
    names = "b.md", "a.TXT", "a/z.txt", "a-b/y.txt", ".h.txt", ".git/x.txt", "c.png", "txt", "d.GZ"
    for name in names:
        put(here / "docs" / name)
    assert ids("docs") == ["docs/a/z.txt", "docs/a-b/y.txt", "docs/a.TXT", "docs/b.md"]


def test_ids_are_paths_as_typed(here: Path) -> None:
    put(here / "docs/a.txt")
    for typed, expected in {
        "docs": "docs/a.txt",
        "docs/": "docs/a.txt",
        ".": "./docs/a.txt",
        "./docs/a.txt": "./docs/a.txt",
        "docs/../docs/a.txt": "docs/../docs/a.txt",
        str(here): f"{here}/docs/a.txt",
    }.items():
        assert ids(typed) == [expected]


def test_a_hidden_folder_named_by_itself_is_read(here: Path) -> None:
    put(here / ".notes/a.md")
    assert ids(".notes") == [".notes/a.md"]


def test_a_path_named_twice_is_read_once_in_the_order_typed(here: Path) -> None:
    put(here / "docs/a.txt")
    put(here / "docs/b.txt")
    typed = "docs/b.txt", "docs", "./docs/a.txt", "-", "-"
    assert ids(*typed) == ["docs/b.txt", "docs/a.txt", "-"]


def test_links_to_files_are_documents_and_links_to_folders_are_left_out(here: Path) -> None:
    put(here / "docs/a.txt")
    (here / "docs/link.txt").symlink_to("a.txt")
    (here / "docs/circle").symlink_to(".")
    assert ids("docs") == ["docs/a.txt", "docs/link.txt"]


def test_a_name_that_is_no_text_is_escaped(here: Path) -> None:
    (here / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"Text.")
    [source] = find(["."])
    assert source.id == "./caf\\xe9.txt"
    assert read(source).text == "Text."


def test_sizes_are_bytes(here: Path) -> None:
    put(here / "a.txt", "é".encode())
    assert [source.size for source in find(["a.txt", "-"])] == [2, 0]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("none.txt", "none.txt: no such file or folder"),
        ("", ": no such file or folder"),
        (
            "empty",
            "empty: the folder holds no file that is read (.txt, .md, "
            ".html, .htm, .jsonl, .csv, .pdf, .docx, .pptx, .xlsx, .epub, .parquet)",
        ),
        ("dangling.txt", "dangling.txt: no such file or folder"),
        ("n" * 300, f"{'n' * 300}: cannot be looked into (File name too long)"),
    ],
)
def test_paths_that_cannot_be(here: Path, typed: str, message: str) -> None:
    (here / "empty").mkdir()
    (here / "dangling.txt").symlink_to("nothing")
    with pytest.raises(UsageError) as caught:
        find([typed])
    assert str(caught.value) == message


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_text_is_what_the_bytes_say(text: str) -> None:
    data = text.encode()
    path = Path(f"/proc/self/fd/{os.memfd_create('text')}")
    try:
        path.write_bytes(data)
        assert read(Source("a", path, len(data))).text == text
    finally:
        os.close(int(path.name))


def test_line_ends_and_the_byte_order_mark_stay(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", b"\xef\xbb\xbfA.\r\nB.\rC.\n\r\n")
    assert text_of(path) == "\ufeffA.\r\nB.\rC.\n\r\n"
    assert text_of(path, "utf-8-sig") == "A.\r\nB.\rC.\n\r\n"


def test_other_encodings(tmp_path: Path) -> None:
    assert text_of(put(tmp_path / "a.txt", b"caf\xe9"), "latin-1") == "café"
    assert text_of(put(tmp_path / "b.txt", "café 🎈".encode("utf-16")), "utf-16") == "café 🎈"
    assert text_of(put(tmp_path / "c.txt", b"caf\xe9 x"), errors="replace") == "caf\ufffd x"


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (
            b"caf\xe9 ol\xff",
            "utf-8",
            "byte 0xE9 at offset 3 is not valid utf-8; give the file's own encoding "
            "(--encoding cp1252 or latin-1 are common), or --errors replace",
        ),
        (b"a\x81", "cp1252", "byte 0x81 at offset 1 is not valid cp1252; give"),
        ("a".encode("utf-16"), "utf-8", "is UTF-16; give --encoding utf-16"),
        ("a".encode("utf-16-be"), "utf-8", "holds a zero byte at offset 0, so it is binary"),
        ("a".encode("utf-32"), "utf-8", "is UTF-32; give --encoding utf-32"),
        (b"\x89PNG\r\n\x1a\n\0\0", "utf8", "holds a zero byte at offset 8, so it is binary"),
        (b"abc", "utf-16", "byte 0x63 at offset 2 is not valid utf-16; give"),
        (b"+2AA-", "utf-7", "lone surrogate U+D800 at character 0"),
    ],
)
def test_other_bytes_are_refused(tmp_path: Path, data: bytes, encoding: str, message: str) -> None:
    path = put(tmp_path / "a.txt", data)
    with pytest.raises(DocumentError) as caught:
        text_of(path, encoding)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(DocumentError, match=r"a.txt: is not a regular file; pipe text in with -"):
        text_of(tmp_path / "a.txt")


def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(DocumentError, match=r"^/proc/self/mem: cannot be read \("):
        text_of(Path("/proc/self/mem"))


def test_a_file_that_vanished(tmp_path: Path) -> None:
    [source] = find([str(put(tmp_path / "a.txt"))])
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DocumentError, match=r"a.txt: cannot be read \(No such file"):
        read(source)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    [source] = find(["-"])
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"A.\r\n")))
    document = read(source)
    assert (document.id, document.text) == ("-", "A.\r\n")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DocumentError, match=r"^-: standard input is closed"):
        read(source)


def test_encoding_names() -> None:
    for name in ("utf-8", "UTF8", "latin-1", "utf-16", "cp1252", "shift_jis"):
        check_encoding(name)
    for name in ("no-such", "hex", "rot13", "", "a\0b"):
        with pytest.raises(UsageError, match="no text encoding is called"):
            check_encoding(name)


def test_chunks_that_were_written_into_a_folder_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    for name in ("a.txt", "chunks.jsonl", "chunks.jsonl.manifest.json", "rows.jsonl"):
        (tmp_path / name).write_text("{}")
    for name in ("part-00000.jsonl", "chunks.manifest.json"):
        (tmp_path / "out" / name).write_text("{}")
    found = [source.id.rpartition("/")[2] for source in find([str(tmp_path)])]
    assert found == ["a.txt", "rows.jsonl"]
