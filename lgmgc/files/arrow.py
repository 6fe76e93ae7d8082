"""Rows as Arrow tables, which Parquet and Ray are given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from lgmgc.files.rows import COLUMNS, SCHEMA, Row

_GROUP_BYTES = 1 << 25
_GROUP_ROWS = 1 << 14


def schema() -> pa.Schema:
    """The `COLUMNS`, in their order; ``metadata`` is said in JSON."""
    types: dict[str, Any] = {
        **dict.fromkeys(("level", "start", "end", "words"), pa.int64()),
        **dict.fromkeys(("window", "pages"), pa.list_(pa.int64())),
        "score": pa.float64(),
        "headings": pa.list_(pa.string()),
    }
    fields = [(name, types.get(name, pa.string())) for name in COLUMNS]
    return pa.schema(fields, {"lgmgc.schema": str(SCHEMA)})


def tables(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Tables of rows, each a row group of moderate size."""
    table = schema()
    for group in _groups(rows):
        yield pa.Table.from_pylist(group, table)


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    size = 0
    for row in rows:
        metadata = row["metadata"]
        written = None if metadata is None else json.dumps(metadata, ensure_ascii=False)
        group.append({**row, "metadata": written})
        size += len(row["text"])
        if size >= _GROUP_BYTES or len(group) >= _GROUP_ROWS:
            yield group
            group, size = [], 0
    if group:
        yield group
