import builtins
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.datasets.rows import Row, file_in, file_or_only, json_list, read_rows


def test_lines_are_counted_with_the_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": "x"}\n\n{"a": "y"}\r\n')
    rows = list(read_rows(path))
    assert [(row.where, row.text("a")) for row in rows] == [
        (f"{path}: line 1", "x"),
        (f"{path}: line 3", "y"),
    ]


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff", b"3", b"[" * 100_000])
def test_a_line_that_is_no_object(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" + line)
    with pytest.raises(DocumentError) as error:
        list(read_rows(path))
    assert str(error.value) == f"{path}: line 2 is not a JSON object in UTF-8"


def test_csv_rows_are_counted_below_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\r\n"one\r\n""two""",x\r\n3,\xff\r\n')
    with pytest.raises(DocumentError, match=r"a\.csv: is not UTF-8, at row 1 below .* or further"):
        list(read_rows(path))
    path.write_bytes(b'a,b\n1,2\n"3"4,5\n')
    with pytest.raises(DocumentError, match=r"a\.csv: row 2 below the header is not CSV"):
        list(read_rows(path))
    path.write_bytes(b'a,b\r\n"one\r\n""two""",x\r\n3\r\n')
    first, second = read_rows(path)
    assert first.text("a") == 'one\r\n"two"'
    assert second.where == f"{path}: row 2 below the header"
    with pytest.raises(DocumentError, match="row 2 below the header needs text in the field 'b'"):
        second.text("b")


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": [f"{k}" for k in range(3000)] + [None]}), path)
    rows = list(read_rows(path))
    assert len(rows) == 3001
    assert (rows[2999].where, rows[2999].text("a")) == (f"{path}: row 3000", "2999")
    with pytest.raises(DocumentError, match=r"a\.parquet: row 3001 needs text in the field 'a'"):
        rows[3000].text("a")
    path.write_bytes(b"PAR1 no such thing")
    with pytest.raises(DocumentError, match=r"a\.parquet: row 1 cannot be read as Parquet"):
        list(read_rows(path))


def test_parquet_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match=r"pip install 'lgmgc\[eval\]'"):
        list(read_rows(tmp_path / "a.parquet"))


ROW = Row("f: line 1", {
    "text": "a", "blank": " ", "half": "\ud800", "null": None, "no": 3.5, "digits": "12",
    "true": True, "texts": ["a", ""], "mixed": ["a", 1], "pairs": [["0", "4"], [5, 6]],
    "triple": [[1, 2, 3]], "below": [-1], "objects": [{"a": 1}, {"a": "x"}],
})  # fmt: skip


def test_fields() -> None:
    assert ROW.text("blank", blank=True) == " "
    assert ROW.whole("digits") == 12
    assert ROW.texts("texts") == ("a", "")
    assert ROW.pairs("pairs") == ((0, 4), (5, 6))
    assert [row.where for row in ROW.rows("objects")] == [
        "f: line 1, objects 1",
        "f: line 1, objects 2",
    ]
    assert (ROW.has("text"), ROW.has("null"), ROW.has("absent")) == (True, False, False)


@pytest.mark.parametrize(
    ("method", "name", "needs"),
    [
        *(("text", name, "text") for name in ("blank", "half", "null", "no", "absent")),
        *(("whole", name, "a whole number from 0") for name in ("text", "no", "true", "null")),
        *(("texts", name, "a list of texts") for name in ("text", "mixed", "pairs")),
        ("wholes", "below", "a list of whole numbers from 0"),
        ("wholes", "texts", "a list of whole numbers from 0"),
        ("pairs", "triple", "a list of pairs of whole numbers from 0"),
        ("pairs", "texts", "a list of pairs of whole numbers from 0"),
        ("rows", "mixed", "a list of objects"),
    ],
)
def test_fields_that_cannot_be(method: str, name: str, needs: str) -> None:
    with pytest.raises(DocumentError) as error:
        getattr(ROW, method)(name)
    assert str(error.value) == f"f: line 1 needs {needs} in the field {name!r}"


def test_a_list_in_a_text() -> None:
    assert json_list(Row("w", {"a": '[{"b": "x"}]'}), "a")[0].text("b") == "x"
    for bad in ("[", '{"b": "x"}', "[1]", "null"):
        with pytest.raises(DocumentError, match="w needs a list of objects in the field 'a'"):
            json_list(Row("w", {"a": bad}), "a")


def test_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder with b or a in it"):
        file_in(tmp_path, "b", "a")
    with pytest.raises(UsageError, match="holds none; give the file"):
        file_or_only(tmp_path)
    one = tmp_path / "a.jsonl"
    one.touch()
    assert file_in(tmp_path, "b", "a.jsonl") == file_or_only(tmp_path) == file_or_only(one) == one
    (tmp_path / "b.jsonl").touch()
    with pytest.raises(UsageError, match=r"holds a\.jsonl, b\.jsonl; give the file"):
        file_or_only(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_rows(tmp_path / "absent.jsonl"))
    with pytest.raises(UsageError, match=r"is not a \.jsonl, \.csv or \.parquet file"):
        list(read_rows(tmp_path / "a.xlsx"))
