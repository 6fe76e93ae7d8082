from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.files.saved_text import _name, save_text


def test_the_text_as_it_is(tmp_path: Path) -> None:
    text = "\ufeffA.\r\nB\rC\u2028é🎈\0"
    path = save_text(Document("docs/a.pdf", text), tmp_path / "new/texts")
    assert path.read_bytes() == text.encode()
    assert path.parent == tmp_path / "new/texts"
    assert path.name == "docs_a.pdf-a00d277b2573931f.txt"
    save_text(Document("docs/a.pdf", "Other."), tmp_path / "new/texts")
    assert [file.read_text() for file in path.parent.iterdir()] == ["Other."]


def test_ids_that_would_lead_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    ids = [
        "../../up",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a\0b",
        "a/b",
        "a_b",
        "A_b",
        "x" * 500,
        "é" * 90,
    ]
    paths = {save_text(Document(id, id), folder) for id in ids}
    assert len(paths) == len(ids)
    assert {path.parent for path in paths} == {folder}
    assert set(folder.iterdir()) == paths
    assert len({path.name.lower() for path in paths}) == len(ids)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_names_hold_nothing_that_a_system_refuses(id: str) -> None:
    name = _name(id)
    assert len(name.encode()) <= 255
    assert not name.startswith((".", "-"))
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert name.isprintable()


def test_a_place_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file: is no folder to save texts in \("):
        save_text(Document("a", "Text."), tmp_path / "file")
