"""The shape of an output: JSON lines, CSV or Parquet, all rows or some."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast, get_args

from lgmgc.errors import UsageError
from lgmgc.files.rows import COLUMNS, Row, line, nested

Format = Literal["jsonl", "parquet", "csv"]
Only = Literal["parents", "children"]
FORMATS: tuple[Format, ...] = get_args(Format)

Documents = Iterable[tuple[str, Iterable[bytes]]]
"""The id of each document, and its rows as `lgmgc.files.rows.rows` writes them."""


class Writable(Protocol):
    """Where bytes go."""

    def write(self, data: bytes) -> object:
        """Add bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Shape:
    """What becomes of rows.

    Attributes:
        format: ``csv`` and ``parquet`` have the same columns as ``jsonl``. CSV says lists and
            metadata in JSON and has an empty cell for null; Parquet says metadata in JSON.
        only: leave out the others.
        nest: one JSON object a document; see `lgmgc.files.rows.nested`.

    Raises:
        UsageError: these do not go together, or a library is not installed.
    """

    format: Format = "jsonl"
    only: Only | None = None
    nest: bool = False

    def __post_init__(self) -> None:
        if self.nest and self.format != "jsonl":
            raise UsageError(f"--nest gives JSON, which {self.format} is not; write .jsonl")
        if self.nest and self.only:
            raise UsageError("--nest puts children into their parents; leave out --only")
        if self.format == "parquet":
            try:
                import pyarrow  # noqa: F401
            except ImportError:
                raise UsageError(
                    "writing .parquet takes a library that is not installed; "
                    "pip install 'lgmgc[parquet]'"
                ) from None

    def lines(self, document: str, rows: Iterable[bytes]) -> Iterator[bytes]:
        """Shape the rows of a document, for JSON lines.

        Args:
            document: its id.
            rows: all of them.
        """
        if self.nest:
            yield line(nested(document, map(json.loads, rows)))
        elif self.only is None:
            yield from rows
        else:
            yield from (row for row in rows if self._wanted(json.loads(row)))

    def write(self, documents: Documents, file: Writable) -> None:
        """Write a file of this shape; one row, or row group, is in memory.

        Args:
            documents: in the order of the output.
            file: takes the bytes.
        """
        if self.format == "jsonl":
            for document, rows in documents:
                for written in self.lines(document, rows):
                    file.write(written)
        else:
            write = _csv if self.format == "csv" else _parquet
            write((row for _, rows in documents for row in self._rows(rows)), file)

    def _rows(self, rows: Iterable[bytes]) -> Iterator[Row]:
        return (row for row in map(json.loads, rows) if self._wanted(row))

    def _wanted(self, row: Row) -> bool:
        return self.only is None or (row["parent"] is None) == (self.only == "parents")


def _csv(rows: Iterable[Row], file: Writable) -> None:
    buffer = io.StringIO(newline="")
    table = csv.writer(buffer)
    table.writerow(COLUMNS)
    for row in rows:
        table.writerow([_cell(row[name]) for name in COLUMNS])
        file.write(buffer.getvalue().encode("utf-8"))
        buffer.seek(0)
        buffer.truncate()
    file.write(buffer.getvalue().encode("utf-8"))


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _parquet(rows: Iterable[Row], file: Writable) -> None:
    from pyarrow.parquet import ParquetWriter

    from lgmgc.files.arrow import schema, tables

    with ParquetWriter(cast(Any, _Stream(file)), schema()) as written:
        for table in tables(rows):
            written.write_table(table)


class _Stream(io.RawIOBase):
    """What pyarrow takes for a file."""

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._size = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """How much was written."""
        return self._size

    def write(self, data: Any) -> int:
        """Add bytes."""
        given = bytes(data)
        self._file.write(given)
        self._size += len(given)
        return len(given)
