"""Where chunks go: a file, or a folder of several."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lgmgc.errors import UsageError
from lgmgc.files.journal import Journal, Shard
from lgmgc.files.manifest import beside
from lgmgc.files.reader import Source
from lgmgc.files.shape import FORMATS, Format, Only, Shape
from lgmgc.files.whole_file import WholeFile, refuse, remove_left, resolved

SHARD = 1000
"""Documents of a shard, where nothing else is said."""

SHARD_SOURCES = 100
"""Sources of a shard that a machine of a cluster writes: what a lost one may cost."""

_SHARD = re.compile(rf"part-\d{{5,}}\.({'|'.join(FORMATS)})")

Described = Callable[[dict[str, object]], Iterable[bytes]]
"""Makes the manifest when it is told of the output."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an output goes, and in which shape.

    Attributes:
        out: as it was typed.
        path: of the file or folder, links followed.
        shape: what becomes of rows.
        shard: how many documents a file of the folder has; None: it is one file.
        of_sources: a file of the folder has so many sources in place of documents.
    """

    out: str
    path: Path
    shape: Shape
    shard: int | None = None
    of_sources: bool = False

    @property
    def decides(self) -> dict[str, object]:
        """What of it decides the output's bytes."""
        shape = self.shape
        decides: dict[str, object] = {"format": shape.format, "only": shape.only}
        decides["nest"] = shape.nest
        if self.shard is not None:
            decides["shard_sources" if self.of_sources else "shard_documents"] = self.shard
        return decides

    @property
    def libraries(self) -> tuple[str, ...]:
        """Those that also decide the output's bytes."""
        written = ("pyarrow",) if self.shape.format == "parquet" else ()
        return (*written, "ray") if self.of_sources else written

    @property
    def manifest(self) -> Path:
        """The manifest's place: beside a file, in a folder."""
        return beside(self.path if self.shard is None else self.path / "chunks")

    @property
    def journal(self) -> Path:
        """The journal's place, hidden."""
        if self.shard is None:
            return self.path.with_name(f".{self.path.name}.partial")
        return self.path / ".partial"

    def shard_name(self, number: int) -> str:
        """What the file of a shard is called; the first is 0."""
        return f"part-{number:05}.{self.shape.format}"

    def shards(self) -> list[Path]:
        """Files in the folder that are called as shards are."""
        if self.shard is None or not self.path.is_dir():
            return []
        return sorted(each for each in self.path.iterdir() if _SHARD.fullmatch(each.name))


def place(
    out: str,
    format: Format | None = None,
    only: Only | None = None,
    *,
    nest: bool = False,
    shard: int | None = None,
) -> Place:
    """Understand what the user typed.

    Args:
        out: a file by its suffix, JSON lines if it has none; a folder if it is one or ends with
            "/".
        format: of the files in a folder.
        only: see `Shape`.
        nest: see `Shape`.
        shard: documents of a file in a folder.

    Raises:
        UsageError: it cannot go there, or these do not go together.
    """
    if not out:
        raise UsageError("--out '' names no file; give one such as chunks.jsonl")
    path = Path(out)
    if out.endswith(("/", os.sep)) or path.is_dir():
        shape = Shape(format or "jsonl", only, nest)
        return Place(out, path.resolve(), shape, shard or SHARD)
    if format is not None or shard is not None:
        raise UsageError(
            f"--out {out} is a file; --format and --shard-documents are for a folder, whose name "
            "ends with /"
        )
    target = resolved(path)
    resolved(beside(target))
    for known in FORMATS:
        if (target.suffix.lower() or ".jsonl") == f".{known}":
            return Place(out, target, Shape(known, only, nest))
    raise UsageError(
        f"--out {out}: end its name with {', '.join(f'.{known}' for known in FORMATS)}, or with / "
        "for a folder"
    )


def apart(sources: Sequence[Source], to: Place) -> list[Source]:
    """Leave out the shards of an earlier run, and refuse to write over a document.

    Raises:
        UsageError: the output or its manifest is one of the documents.
    """
    own = {_identity(each) for each in to.shards()} - {None}
    kept = [each for each in sources if not each.path or _identity(each.path) not in own]
    read = {_identity(each.path) for each in kept if each.path} - {None}
    for path in (to.path, to.manifest):
        if to.shard is None and _identity(path) in read:
            raise UsageError(f"{path}: is one of the documents; choose another name for --out")
    return kept


class Output:
    """Puts an output together from the journal.

    A file appears when all is done, its manifest just before it, so that it never stands there
    without one. A folder's shards appear one after another, each whole; one that is there as the
    journal has it is not written again. The first takes away the manifest of an earlier run, the
    end takes away that run's other shards, and the manifest comes last: with it, the folder is
    whole.
    """

    def __init__(self, to: Place, journal: Journal) -> None:
        """Begin.

        Raises:
            UsageError: the folder has files called as shards are, which no run that is known left.
        """
        self._to = to
        self._journal = journal
        self._seen = self._begin = 0  # places looked at; the first one of the next shard
        self._content: list[int] = []  # documents of the next shard
        self._written: list[dict[str, object]] = []
        remove_left(to.path)
        remove_left(to.manifest)
        if to.shards() and not to.manifest.exists() and not journal.known:
            raise UsageError(
                f"{to.out}: has files such as {to.shards()[0].name} that no finished run left; "
                "remove them, or choose another folder"
            )

    def settled(self, end: int) -> None:
        """Write the shards that are complete.

        Args:
            end: all places before this are known.
        """
        while self._to.shard is not None and self._seen < end:
            number = self._journal.number(self._seen)
            self._seen += 1
            if number is not None:
                self._content.append(number)
            if len(self._content) == self._to.shard:
                self._write_shard()

    def has(self, name: str, shard: Shard, content: str) -> bool:
        """Whether a shard stands there as it was noted, and with this content."""
        return shard.content == content and _sha256(self._to.path / name) == shard.sha256

    def changes(self) -> None:
        """Take away the folder's manifest, for a shard is about to be written."""
        self._to.manifest.unlink(missing_ok=True)

    def wrote(self, name: str, sha256: str, documents: int) -> None:
        """Note the next shard; also one that another machine wrote.

        Args:
            name: of the file, in the folder.
            sha256: of the file.
            documents: how many are in it.
        """
        self._written.append({"file": name, "sha256": sha256, "documents": documents})

    def finish(self, manifest: Described) -> None:
        """Write what is left, and the manifest; the journal is deleted.

        Args:
            manifest: makes it.

        Raises:
            UsageError: the disk is full or fails; the journal stays.
        """
        if self._to.shard is None:
            self._finish_file(manifest)
        else:
            if self._content:
                self._write_shard()
            self._finish_folder(manifest)
        self._journal.remove()

    def _finish_file(self, manifest: Described) -> None:
        to = self._to
        with WholeFile(to.path) as file, WholeFile(to.manifest) as described:
            to.shape.write(self._journal.documents(), file)
            file.finish()
            files = {"file": to.path.name, "sha256": file.sha256}
            _describe(described, manifest({**to.decides, **files}))
            described.commit()
            file.commit()

    def _finish_folder(self, manifest: Described) -> None:
        named = {each["file"] for each in self._written}
        for old in self._to.shards():
            if old.name not in named:
                old.unlink(missing_ok=True)
        with WholeFile(self._to.manifest) as described:
            _describe(described, manifest({**self._to.decides, "shards": self._written}))
            described.commit()

    def _write_shard(self) -> None:
        name = self._to.shard_name(len(self._written))
        path = self._to.path / name
        content = hashlib.sha256(" ".join(map(str, self._content)).encode()).hexdigest()
        shard = self._journal.shard(name)
        if shard is None or not self.has(name, shard, content):
            self.changes()
            remove_left(path)
            with WholeFile(path) as file:
                documents = self._journal.documents(self._begin, self._seen)
                self._to.shape.write(documents, file)
                file.finish()
                shard = Shard(content, file.sha256)
                self._journal.note_shard(name, shard)
                file.commit()
        self.wrote(name, shard.sha256, len(self._content))
        self._begin, self._content = self._seen, []


@contextlib.contextmanager
def opened(to: Place, *, fresh: bool = False) -> Iterator[tuple[Journal, Output]]:
    """Open the journal of an output, and make its folder; both go again if nothing was done."""
    made = False
    if to.shard is not None and not to.path.exists():
        try:
            to.path.mkdir(mode=0o700)
        except OSError as error:
            refuse(Path(to.out), error)
        made = True
    try:
        with Journal(to.journal, to.out, fresh=fresh) as journal:
            yield journal, Output(to, journal)
    finally:
        if made:
            with contextlib.suppress(OSError):  # it is not empty
                to.path.rmdir()


def _describe(file: WholeFile, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        file.write(piece)


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    """What two names of one file have in common; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
