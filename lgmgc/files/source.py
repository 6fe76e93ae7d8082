"""A place that documents are read from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GZ = ".gz"


@dataclass(frozen=True, slots=True)
class Source:
    r"""A place that a document, or a table of them, is read from.

    Attributes:
        id: the path as it was typed, with "/" between folders on every system, or
            "-" for standard input. Bytes of a name that are no text are written as ``\xNN``.
        path: None for standard input.
        size: bytes when it was found; 0 for standard input.
    """

    id: str
    path: Path | None
    size: int

    @property
    def packed(self) -> bool:
        """Whether its name says that gzip packed it."""
        return self.path is not None and self.path.suffix.lower() == GZ

    @property
    def suffix(self) -> str:
        """What its name says that it is, unpacked; empty where it says nothing.

        >>> Source("a.CSV.gz", Path("a.CSV.gz"), 0).suffix
        '.csv'
        """
        if self.path is None:
            return ""
        return (self.path.with_suffix("") if self.packed else self.path).suffix.lower()
