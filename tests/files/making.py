"""Documents of every format, whole ones and others made from them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from lgmgc.document import Document
from lgmgc.files.documents import Failure, Opened, Reading, documents
from lgmgc.files.reader import find

FIXTURES = Path(__file__).parent / "fixtures"


def found(path: Path, **reading: object) -> list[Opened | Failure]:
    """What a source holds."""
    [source] = find([str(path)])
    return list(documents(source, Reading(**reading)))  # type: ignore[arg-type]


def document(path: Path, **reading: object) -> Document:
    """The only document of a source, which can be read."""
    [only] = found(path, **reading)
    assert isinstance(only, Opened), only
    return only.document


def refusal(path: Path, **reading: object) -> str:
    """Why a source cannot be read, without its name."""
    [only] = found(path, **reading)
    assert isinstance(only, Failure), only
    assert only.message.startswith(f"{path}: ")
    return only.message.removeprefix(f"{path}: ")


def put(path: Path, data: bytes | str) -> Path:
    """A file."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def rezipped(path: Path, name: str, changed: Callable[[bytes], bytes]) -> bytes:
    """An archive with another content in the parts whose names end so."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            part = old.read(each)
            new.writestr(each, changed(part) if each.endswith(name) else part)
    return out.getvalue()
