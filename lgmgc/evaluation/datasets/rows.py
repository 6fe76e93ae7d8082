"""Rows of a data set's files; each knows where it stands, so that a fault can name the place."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lgmgc.errors import DocumentError, UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One row, or an object inside one.

    Every method raises DocumentError, with the place and what is needed there, where the field is
    absent or holds something else. The text of a field is never quoted (law 6).

    Attributes:
        where: the file and the line or row, for messages.
        fields: by name.
    """

    where: str
    fields: Mapping[str, object]

    def fault(self, what: str) -> DocumentError:
        """An error to raise: ``what`` goes on after the place ("needs …")."""
        return DocumentError(f"{self.where} {what}")

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.fields.get(name) is not None

    def text(self, name: str, *, blank: bool = False) -> str:
        """A field that is text.

        Args:
            name: of the field.
            blank: whether white space alone, or nothing, will do.
        """
        value = _text(self.fields.get(name))
        if value is None or not (blank or value.strip()):
            raise self.fault(f"needs text in the field {name!r}")
        return value

    def whole(self, name: str) -> int:
        """A field that is a whole number from 0; digits in quotes count as one."""
        value = _whole(self.fields.get(name))
        if value is None:
            raise self.fault(f"needs a whole number from 0 in the field {name!r}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that is a list of texts."""
        return self._all(name, "texts", _text)

    def wholes(self, name: str) -> tuple[int, ...]:
        """A field that is a list of whole numbers from 0."""
        return self._all(name, "whole numbers from 0", _whole)

    def pairs(self, name: str) -> tuple[tuple[int, int], ...]:
        """A field that is a list of pairs of whole numbers from 0."""
        return self._all(name, "pairs of whole numbers from 0", _pair)

    def rows(self, name: str) -> list[Row]:
        """A field that is a list of objects."""
        objects = self._all(name, "objects", _object)
        return [Row(f"{self.where}, {name} {k}", each) for k, each in enumerate(objects, 1)]

    def _all(self, name: str, kind: str, read: Callable[[object], T | None]) -> tuple[T, ...]:
        values = self.fields.get(name)
        if isinstance(values, list):
            found = tuple(item for item in map(read, values) if item is not None)
            if len(found) == len(values):
                return found
        raise self.fault(f"needs a list of {kind} in the field {name!r}")


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a .jsonl, .csv or .parquet file, one in memory at a time.

    Lines of JSON are counted from 1, blank ones too, and blank ones are left out. Rows of a CSV are
    counted from 1 below its header; those of Parquet from 1.

    Raises:
        UsageError: the file cannot be opened, or needs a library that is not installed.
        DocumentError: the file or a row of it is not what its name says.
    """
    readers = {".jsonl": _json_lines, ".csv": _csv, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: is not a .jsonl, .csv or .parquet file, so it cannot be read")
    try:
        yield from reader(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None


def json_list(row: Row, name: str) -> list[Row]:
    """A field of text that spells a JSON list of objects, as CSV files hold them.

    Raises:
        DocumentError: it spells something else.
    """
    return Row(row.where, {name: _json(row.text(name))}).rows(name)


def file_in(folder: Path, *names: str) -> Path:
    """The first of these files that is there.

    Raises:
        UsageError: none is.
    """
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{folder}: is not a folder with {' or '.join(names)} in it")


def file_or_only(data: Path) -> Path:
    """The file itself, or the only .jsonl file of a folder.

    Raises:
        UsageError: the folder holds none or several.
    """
    if not data.is_dir():
        return data
    files = sorted(data.glob("*.jsonl"))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise UsageError(f"{data}: needs one .jsonl file and holds {names}; give the file")
    return files[0]


def _json_lines(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                fields = _object(_json(line))
                if fields is None:
                    raise DocumentError(f"{path}: line {number} is not a JSON object in UTF-8")
                yield Row(f"{path}: line {number}", fields)


def _csv(path: Path) -> Iterator[Row]:
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, fields in enumerate(csv.DictReader(file, strict=True), 1):
                yield Row(f"{path}: row {number} below the header", fields)
    except csv.Error:
        raise DocumentError(f"{path}: row {number + 1} below the header is not CSV") from None
    except UnicodeDecodeError:  # the file is decoded in blocks of many rows
        raise DocumentError(
            f"{path}: is not UTF-8, at row {number + 1} below the header or further on"
        ) from None


def _parquet(path: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise UsageError(
            f"{path}: Parquet needs pyarrow; install it with `pip install 'lgmgc[eval]'`"
        ) from None
    number = 0
    try:
        with ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(f"{path}: row {number}", fields)
    except (ArrowException, UnicodeDecodeError):
        raise DocumentError(f"{path}: row {number + 1} cannot be read as Parquet") from None


def _json(text: str | bytes) -> object:
    """The value spelled; None where it is no JSON in UTF-8, which no field may be either."""
    try:
        value: object = json.loads(text.decode("utf-8") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):
        return None
    return value


def _object(value: object) -> dict[str, object] | None:
    return value if isinstance(value, dict) else None


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can spell half of a UTF-16 pair, which is no text
        return None
    return value


def _whole(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)  # QMSum writes its numbers in quotes
    return value if type(value) is int and value >= 0 else None  # a bool is an int to isinstance


def _pair(value: object) -> tuple[int, int] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, last = map(_whole, value)
    return None if first is None or last is None else (first, last)
