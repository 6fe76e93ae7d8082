"""Rows as JSON lines, CSV and Parquet, read again by libraries that did not write them here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.document import Document, Heading, Tree
from lgmgc.errors import UsageError
from lgmgc.files import arrow
from lgmgc.files.rows import COLUMNS, SCHEMA, rows
from lgmgc.files.shape import Shape
from tests.fake import TEXTS


def trees() -> Iterator[Tree]:
    chunker = Chunker(Settings("mg", 20))
    documents = [
        Document(name, text[:2_000], {"name": name, "n": [1, None]}, (0, 9), (Heading(0, 1, "A"),))
        for name, text in TEXTS.items()
    ]
    return chunker.chunk_many([*documents, Document("plain", 'Say "one", two;\r\nthree.')])


def written(shape: Shape) -> bytes:
    buffer = io.BytesIO()
    shape.write(((tree.document.id, rows(tree)) for tree in trees()), buffer)
    return buffer.getvalue()


def expected() -> list[dict[str, Any]]:
    return [json.loads(row) for tree in trees() for row in rows(tree)]


def test_jsonl_is_the_rows() -> None:
    assert written(Shape()) == b"".join(row for tree in trees() for row in rows(tree))


def test_csv() -> None:
    csv.field_size_limit(1 << 24)
    lines = list(csv.DictReader(io.StringIO(written(Shape("csv")).decode(), newline="")))
    wanted = expected()
    assert len(lines) == len(wanted) > 100
    assert list(lines[0]) == list(COLUMNS)
    for got, want in zip(lines, wanted, strict=True):
        for name, value in want.items():
            if value is None:
                assert got[name] == ""
            elif isinstance(value, list | dict):
                assert json.loads(got[name]) == value
            else:
                assert got[name] == str(value)


def test_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "_GROUP_ROWS", 50)
    data = written(Shape("parquet"))
    table = parquet.ParquetFile(io.BytesIO(data))
    wanted = expected()
    assert table.num_row_groups == -(-len(wanted) // 50) > 2
    assert table.schema_arrow.metadata[b"lgmgc.schema"] == str(SCHEMA).encode()
    for row in wanted:
        row["metadata"] = row["metadata"] and json.dumps(row["metadata"])
    assert table.read().to_pylist() == wanted


def table_of(format: str, data: bytes) -> list[dict[str, Any]]:
    if format == "jsonl":
        return [json.loads(line) for line in data.splitlines()]
    if format == "parquet":
        return parquet.read_table(io.BytesIO(data)).to_pylist()  # type: ignore[no-any-return]
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    return arrow_csv.read_csv(io.BytesIO(data), parse_options=options).to_pylist()  # type: ignore[no-any-return]


def test_nothing_has_columns_all_the_same() -> None:
    empty: dict[str, bytes] = {}
    for format in ("csv", "parquet"):
        buffer = io.BytesIO()
        Shape(format).write([("a", [])], buffer)
        empty[format] = buffer.getvalue()
    assert empty["csv"].decode() == ",".join(COLUMNS) + "\r\n"
    assert parquet.read_table(io.BytesIO(empty["parquet"])).column_names == list(COLUMNS)


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_only(format: Any) -> None:
    wanted = expected()
    for only, levels in (("parents", {0}), ("children", {1, 2})):
        got = table_of(format, written(Shape(format, only)))  # type: ignore[arg-type]
        ids = [row["id"] for row in wanted if row["level"] in levels]
        assert [row["id"] for row in got] == ids
        assert len(ids) > 10
        assert {row["level"] for row in got} == levels


def test_nest_has_a_line_for_every_document() -> None:
    lines = [json.loads(line) for line in written(Shape(nest=True)).splitlines()]
    assert [line["document"] for line in lines] == [tree.document.id for tree in trees()]
    for line, tree in zip(lines, trees(), strict=True):
        assert "".join(parent["text"] for parent in line["parents"]) == tree.document.text
        ids = [[c["id"] for c in parent["children"]] for parent in line["parents"]]
        assert ids == [[child.id for child in parent.children] for parent in tree.parents]


def test_what_does_not_go_together() -> None:
    with pytest.raises(UsageError, match="--nest gives JSON, which csv is not"):
        Shape("csv", nest=True)
    with pytest.raises(UsageError, match="leave out --only"):
        Shape(only="parents", nest=True)
