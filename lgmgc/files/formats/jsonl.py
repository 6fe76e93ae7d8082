"""JSON lines: one document a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from lgmgc.errors import DocumentError
from lgmgc.files.formats.rows import ID, ROW, Row, Shares, document_of, no_text
from lgmgc.files.raw import opened
from lgmgc.files.reading import Failure, Opened, Reading
from lgmgc.files.source import Source


def read(source: Source, reading: Reading) -> Iterator[Opened | Failure]:
    """Read one line after another: an object with a text, and maybe ``id`` and ``metadata``.

    JSON is always UTF-8. Blank lines are passed over. A line that cannot be read is a failure and
    the others go on; where the first cannot, the whole source is taken for something else.

    Raises:
        DocumentError: the file cannot be read, or is no JSON lines, or has no such texts.
    """
    with opened(source) as raw:
        shares = Shares(raw.tell)
        first = True
        for number, line in _lines(raw.file):
            found = _found(source, reading, number, line, shares.next(), first)
            first = False
            yield found


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Number lines; of one that is too long, only the beginning, still too long, is kept."""
    number = 0
    while line := file.readline(ROW + 1):
        number += 1
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(ROW)):
            pass
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line


def _found(
    source: Source, reading: Reading, number: int, line: bytes, size: int, first: bool
) -> Opened | Failure:
    where, name = f"line {number}", f"{source.id}#{number}"
    if len(line) > ROW:
        message = f"{source.id}: {where} is longer than {ROW >> 20} MiB; split it first"
        return Failure(name, message, size, unnamed=True)
    row = _object(line, reading.errors)
    if row is None:
        message = f"{source.id}: {where} is not a JSON object in UTF-8; mend it"
        if first:
            raise DocumentError(message)
        return Failure(name, message, size, unnamed=True)
    if first and reading.text_column not in row:
        raise no_text(source, f"{where} has", "field", reading.text_column)
    read = Row("line", number, row.get(reading.text_column), row.get(ID), row.get("metadata"))
    return document_of(source, read, size)


def _object(line: bytes, errors: str) -> dict[str, object] | None:
    try:
        read = json.loads(line.decode("utf-8", errors))
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None
