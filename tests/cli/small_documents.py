"""Small documents for runs of several processes; the method needs no model."""

from __future__ import annotations

from pathlib import Path

MG = ("--method", "mg", "--theta", "20")
TEXT = "One thing. Another thing.\r\nA third\tthing, caf\u00e9.\r\n\r\n"


def write_documents(folder: Path, count: int) -> None:
    """Write ``00.txt``, ``01.txt`` …, no two the same."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:02}.txt").write_bytes(f"{TEXT * 10}{number}".encode())
