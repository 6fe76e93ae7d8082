"""CSV: one document a row."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator

from lgmgc.errors import DocumentError
from lgmgc.files.formats.rows import ID, ROW, Row, Shares, document_of, no_text
from lgmgc.files.raw import opened
from lgmgc.files.reading import Failure, Opened, Reading
from lgmgc.files.source import Source


def read(source: Source, reading: Reading) -> Iterator[Opened | Failure]:
    """Read one row after another: columns separated by commas, their names in the first row.

    Rows are counted from 1 after the names.

    Raises:
        DocumentError: the file cannot be read, is in another encoding or torn, or has no such
            column.
    """
    encoding = reading.encoding
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"  # the mark that Excel puts there is no part of a name
    with opened(source) as raw:
        file = io.TextIOWrapper(raw.file, encoding, reading.errors, newline="")
        table = _rows(source, file, reading)
        names = next(table, [])
        if names.count(reading.text_column) != 1:
            raise no_text(source, "has", "column", reading.text_column)
        text = names.index(reading.text_column)
        name = names.index(ID) if ID in names and reading.text_column != ID else None
        shares = Shares(raw.tell)
        for number, row in enumerate(table, 1):
            if row:  # a blank line is none
                cells = dict(enumerate(row))
                key = None if name is None else cells.get(name)
                yield document_of(source, Row("row", number, cells.get(text), key), shares.next())


def _rows(source: Source, file: io.TextIOWrapper, reading: Reading) -> Iterator[list[str]]:
    csv.field_size_limit(max(ROW, csv.field_size_limit()))  # what is there holds half a book
    table = csv.reader(_lines(source, file), strict=True)
    number = 0
    while True:
        try:
            row = next(table, None)
        except csv.Error:
            raise DocumentError(
                f"{source.id}: is torn, or no CSV, after row {number}; save it again as CSV with "
                "commas and quotation marks"
            ) from None
        except UnicodeError:
            raise DocumentError(
                f"{source.id}: is not valid {reading.encoding} after row {number}; give the file's "
                "own encoding (--encoding cp1252 or latin-1 are common), or --errors replace"
            ) from None
        if row is None:
            return
        yield row
        number += 1


def _lines(source: Source, file: io.TextIOWrapper) -> Iterator[str]:
    while line := file.readline(ROW + 1):
        if len(line) > ROW:
            raise DocumentError(
                f"{source.id}: has a line that is longer than {ROW >> 20} MiB; split it first"
            )
        yield line
