"""JSON lines, CSV and Parquet: one document a line or row."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from lgmgc.files.documents import Failure, Opened
from lgmgc.files.formats import csv, jsonl, rows
from tests.files.making import FIXTURES, found, put, refusal

TIDES = "The tide gauge stands at the end of the pier. It is read four times a day."
STORMS = "In a storm the water rises by two metres. The gates are closed then."
LIGHTS = "A green light marks the northern entrance. Ships keep it on their right."


def told(path: Path, **reading: object) -> list[tuple[str, str]]:
    """Each document's id and text, or what failed and why, without the file's name."""
    return [
        (e.document.id.removeprefix(str(path)), e.document.text)
        if isinstance(e, Opened)
        else (e.id.removeprefix(str(path)), e.message.removeprefix(f"{path}: "))
        for e in found(path, **reading)
    ]


def table(columns: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file)
    return file.getvalue()


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_fixtures(packed: str) -> None:
    storms = f"{STORMS}\nThey open\nafter it."
    assert told(FIXTURES / f"rows.jsonl{packed}") == [
        ("tides", TIDES),
        ("7", STORMS),
        ("#3", LIGHTS),
    ]
    assert told(FIXTURES / f"rows.csv{packed}") == [
        ("tides", TIDES),
        ("storms", storms),
        ("#3", LIGHTS),
    ]
    assert told(FIXTURES / "rows.parquet") == [("3", TIDES), ("1", STORMS), ("#3", LIGHTS)]


def test_metadata() -> None:
    first, second, _ = found(FIXTURES / "rows.jsonl")
    assert isinstance(first, Opened)
    assert isinstance(second, Opened)
    assert first.document.metadata == {"author": "A. Keeper"}
    assert second.document.metadata == {}


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet", "rows.csv.gz"])
def test_shares_are_of_the_file(name: str) -> None:
    size = (FIXTURES / name).stat().st_size
    shares = [each.size for each in found(FIXTURES / name)]
    assert min(shares) > 0
    assert size - 3 <= sum(shares) <= size + 3


def test_another_column(tmp_path: Path) -> None:
    for path in (
        put(tmp_path / "a.jsonl", '{"body": "B.", "text": "T."}'),
        put(tmp_path / "a.csv", "text,body\nT.,B."),
        put(tmp_path / "a.parquet", table({"text": ["T."], "body": ["B."]})),
    ):
        assert told(path, text_column="body") == [("#1", "B.")]
        assert refusal(path, text_column="none").endswith(
            "'none'; name the one that holds the text with --text-column"
        )


def test_lines_that_cannot_be_read_among_others(tmp_path: Path) -> None:
    lines = [
        '\ufeff{"text": "One."}',
        "",
        "not JSON",
        '["text"]',
        '{"text": "Five.", "id": 5}',
        '{"id": "six"}',
        '{"text": 7}',
        '{"text": "\\ud800", "id": "eight"}',
        '{"text": "", "id": "\\ud800"}',
        '{"text": "", "id": true}',
        '{"text": "", "metadata": "no"}',
        '{"text": "", "id": ""}',
        '{"text": "To',
    ]
    path = put(tmp_path / "a.jsonl", "\n".join(lines))
    assert told(path) == [
        ("#1", "One."),
        ("#3", "line 3 is not a JSON object in UTF-8; mend it"),
        ("#4", "line 4 is not a JSON object in UTF-8; mend it"),
        ("5", "Five."),
        ("six", "line 6 has no text; fill it in, or leave the line out"),
        ("#7", "line 7 has no text; fill it in, or leave the line out"),
        ("eight", "line 8 holds half of a UTF-16 pair, which is no text; replace it"),
        ("#9", "line 9 has an id that is neither a text nor a whole number; mend it"),
        ("#10", "line 10 has an id that is neither a text nor a whole number; mend it"),
        ("#11", "line 11 has metadata that is no object; mend it"),
        ("#12", ""),
        ("#13", "line 13 is not a JSON object in UTF-8; mend it"),
    ]
    unnamed = [e.id for e in found(path) if isinstance(e, Failure) and e.unnamed]
    assert [id.removeprefix(str(path)) for id in unnamed] == ["#3", "#4", "#9", "#10", "#13"]


def test_what_is_no_json_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "[\n{}\n]\n")
    [only] = found(path)
    assert isinstance(only, Failure)
    assert (only.id, only.unnamed) == (str(path), True)
    assert only.message == f"{path}: line 1 is not a JSON object in UTF-8; mend it"
    assert refusal(put(path, '{"a": 1}\n{"a": 2}')) == (
        "line 1 has no field 'text'; name the one that holds the text with --text-column"
    )
    assert told(put(path, "")) == []


def test_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", b'{"text": "a"}\n{"text": "caf\xe9"}')
    assert told(path)[1][1] == "line 2 is not a JSON object in UTF-8; mend it"
    assert told(path, errors="replace")[1][1] == "caf\ufffd"


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(jsonl, "ROW", 40)
    data = b'{"text": "%s"}\n{"text": "%s"}\n{"text": "end"}' % (b"a" * 200, b"b" * 27)
    path = put(tmp_path / f"a.jsonl{suffix}", gzip.compress(data) if suffix else data)
    assert [text for _, text in told(path)] == [
        "line 1 is longer than 0 MiB; split it first",
        "b" * 27,
        "end",
    ]


def test_csv_in_other_encodings(tmp_path: Path) -> None:
    assert told(put(tmp_path / "a.csv", "\ufeffid,text\nx,é\n")) == [("x", "é")]
    path = put(tmp_path / "b.csv", "text\nplain\ncafé\n".encode("latin-1"))
    assert told(path, encoding="latin-1") == [("#1", "plain"), ("#2", "café")]
    assert told(path, errors="replace")[1] == ("#2", "caf\ufffd")
    assert told(path)[-1][1].startswith("is not valid utf-8 after row ")
    assert told(put(tmp_path / "c.csv", "text\né\n".encode("utf-16")), encoding="utf-16") == [
        ("#1", "é")
    ]


def test_csv_line_ends_stay_and_blank_lines_go(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'id,text\r\nx,"a\r\nb"\r\n\r\ny,c\r\nz\r\n')
    assert told(path) == [
        ("x", "a\r\nb"),
        ("y", "c"),
        ("z", "row 4 has no text; fill it in, or leave the row out"),
    ]


def test_torn_csv(tmp_path: Path) -> None:
    data = (FIXTURES / "rows.csv").read_bytes()
    path = put(tmp_path / "a.csv", data[: data.index(b"They open")])
    assert told(path)[0] == ("tides", TIDES)
    last = found(path)[-1]
    assert isinstance(last, Failure)
    assert last.unnamed
    assert last.message.startswith(f"{path}: is torn, or no CSV, after row 2; save it again")
    assert sum(each.size for each in found(path)) == path.stat().st_size


def test_csv_that_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "a" * 200_000  # more than Python's csv takes by itself
    assert told(put(tmp_path / "a.csv", f"text\n{long}\n")) == [("#1", long)]
    monkeypatch.setattr(csv, "ROW", 99)
    assert told(tmp_path / "a.csv") == [
        ("", "has a line that is longer than 0 MiB; split it first")
    ]


def test_cells_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "ROW", 3)
    path = put(tmp_path / "a.parquet", table({"text": ["abc", "abcd", "a"]}))
    assert told(path) == [
        ("#1", "abc"),
        ("#2", "row 2 is longer than 0 MiB; split it first"),
        ("#3", "a"),
    ]


def test_kinds_of_parquet_columns(tmp_path: Path) -> None:
    texts = pyarrow.array(["a", None, "a"])
    for column in (texts, texts.dictionary_encode(), texts.cast(pyarrow.large_string())):
        path = put(tmp_path / "a.parquet", table({"id": [5, 6, None], "text": column}))
        assert told(path) == [
            ("5", "a"),
            ("6", "row 2 has no text; fill it in, or leave the row out"),
            ("#3", "a"),
        ]
    assert refusal(put(tmp_path / "b.parquet", table({"text": [1, 2]}))) == (
        "has no column of texts called 'text'; name the one that holds the text with --text-column"
    )
    many = [str(number) for number in range(200)]
    assert [text for _, text in told(put(tmp_path / "c.parquet", table({"text": many})))] == many
