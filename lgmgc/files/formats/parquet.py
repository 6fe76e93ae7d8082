"""Parquet: one document a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lgmgc.files.formats.refusals import damaged, missing
from lgmgc.files.formats.rows import ID, Row, document_of, no_text
from lgmgc.files.raw import opened
from lgmgc.files.reading import Failure, Opened, Reading
from lgmgc.files.source import Source

_BATCH = 64  # rows in memory at once


def read(source: Source, reading: Reading) -> Iterator[Opened | Failure]:
    """Read one row after another; only the columns of text and ids are looked at.

    Raises:
        DocumentError: the library is not installed, the file cannot be read or is torn, or it has
            no such column of texts.
    """
    try:
        from pyarrow import types
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing(source, "parquet") from None
    with opened(source) as raw:
        try:
            table = ParquetFile(raw.file)
            schema = table.schema_arrow
            text = schema.get_field_index(reading.text_column)  # -1: none, or more than one
            kind = schema.field(text).type if text >= 0 else None
        except Exception as error:
            raise damaged(source, error) from None
        if kind is None:
            raise no_text(source, "has", "column", reading.text_column)
        if types.is_dictionary(kind):
            kind = kind.value_type
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
            raise no_text(source, "has", "column of texts called", reading.text_column)
        has_id = schema.get_field_index(ID) >= 0 and reading.text_column != ID
        size = source.size // max(1, table.metadata.num_rows)
        for number, (found, key) in enumerate(_rows(source, table, reading, has_id), 1):
            yield document_of(source, Row("row", number, found, key), max(1, size))


def _rows(
    source: Source, table: Any, reading: Reading, has_id: bool
) -> Iterator[tuple[object, object]]:
    columns = [reading.text_column, *([ID] if has_id else [])]
    batches = table.iter_batches(_BATCH, columns=columns)
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            lists = [batch.column(name).to_pylist() for name in columns]
        except Exception as error:
            raise damaged(source, error) from None
        yield from zip(lists[0], lists[1] if has_id else [None] * len(lists[0]), strict=True)
