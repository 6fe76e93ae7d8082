"""What the adapters share: where chunker and index come from, and what is told of a chunk."""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from lgmgc.chunkers.chunker import Chunker
from lgmgc.chunkers.lgmgc import LGMGC
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import UsageError
from lgmgc.retrieval.hits import Hit, Passage
from lgmgc.retrieval.index import Index, Mode

Emit = Literal["parents", "children", "all"]
"""Which chunks of a tree become the framework's documents; see `emitted`."""


class FrameworkError(UsageError, ImportError):
    """The framework of an adapter cannot be imported; the adapter cannot be either."""

    def __init__(self, framework: str, package: str, error: ImportError) -> None:
        """Say so in a sentence.

        Args:
            framework: as its users call it.
            package: what pip has to install.
            error: of the import that failed.
        """
        super().__init__(
            f"{framework} cannot be imported ({error}); install it with `pip install '{package}'`"
        )


class ChunkerSource:
    """A chunker that was given, or one that is loaded at the first document.

    Threads may share it; they take turns. A copy in another process loads its models there.

    Attributes:
        given: whether a ready chunker was given.
        pretrained: what `LGMGC.from_pretrained` is called with, in values that JSON can hold.
    """

    def __init__(self, chunker: Chunker | None, pretrained: Mapping[str, Any]) -> None:
        """Check what was given; nothing is loaded.

        Args:
            chunker: one that is ready.
            pretrained: the arguments of `LGMGC.from_pretrained` for a chunker to be loaded;
                ``options`` may be a mapping, ``cache`` a str.

        Raises:
            UsageError: both were given, or an argument is unknown.
        """
        if chunker is not None and pretrained:
            raise UsageError(f"a ready chunker takes no {min(pretrained)}; give one or the other")
        try:
            inspect.signature(LGMGC.from_pretrained).bind(**pretrained)
        except TypeError as error:
            raise UsageError(f"LGMGC.from_pretrained {error}; see its documentation") from None
        self.given = chunker is not None
        self.pretrained: dict[str, Any] = {key: _plain(value) for key, value in pretrained.items()}
        self._chunker = chunker
        self._lock = threading.Lock()

    def trees(self, documents: Iterable[Document]) -> list[Tree]:
        """Chunk documents together, so that they share the models' batches.

        Raises:
            DocumentError: one of them cannot be chunked; none is.
            UsageError: the settings cannot be.
            ModelError: a model is absent, damaged or unfit.
        """
        with self._lock:
            return list(self._loaded().chunk_many(documents))

    def load(self) -> None:
        """Load the models now, if they are not.

        Raises:
            UsageError: the settings cannot be.
            ModelError: a model is absent, damaged or unfit.
        """
        with self._lock:
            self._loaded()

    def saved(self) -> dict[str, Any]:
        """What to write down so that another process can make the same.

        Raises:
            UsageError: a ready chunker was given, which does not say where its models are.
        """
        if self.given:
            raise UsageError(
                "a ready chunker cannot be written down; give the arguments of "
                "LGMGC.from_pretrained in its place"
            )
        return dict(self.pretrained)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave behind what was loaded, for pickle."""
        return ChunkerSource, (self._chunker if self.given else None, self.pretrained)

    def _loaded(self) -> Chunker:
        if self._chunker is None:
            self._chunker = LGMGC.from_pretrained(**_restored(self.pretrained))
        return self._chunker


class IndexSource:
    """An index that was given, or one that is opened, with its embedder, at the first search.

    Attributes:
        path: of the index.
        embedder: a catalogue name or a folder; None for what the index names if the catalogue has
            it, else for the environment's LGMGC_EMBEDDER.
    """

    def __init__(self, index: Index | str | Path, embedder: str | None = None) -> None:
        """Take an index, or say which to open."""
        given = index if isinstance(index, Index) else None
        self.path = given.path if given else Path(str(index))
        self.embedder = embedder or (given.embedder_name if given else None)
        self._index = given
        self._lexical = False  # whether what is open was opened without its embedder
        self._lock = threading.Lock()

    def search(self, query: str, k: int, mode: Mode | None = None) -> list[Hit]:
        """Find the k best parents, as `Index.search` does.

        Args:
            query: any text.
            k: parents.
            mode: None for dense where the index has vectors, else lexical.

        Raises:
            UsageError: there is no such index, or it does not fit the search.
            ModelError: its embedder is absent, damaged or unfit.
        """
        index = self.open(mode)
        own: Mode = "lexical" if index.embedder_identity is None else "dense"
        return index.search(query, k, mode=mode or own)

    def open(self, mode: Mode | None = None) -> Index:
        """The index, opened if it is not; without its embedder where ``mode`` asks for none.

        Raises:
            UsageError: there is no such index, or it was made with another embedder.
            ModelError: its embedder is absent, damaged or unfit.
        """
        with self._lock:
            if self._index is None or (self._lexical and mode != "lexical"):
                index = Index.open(self.path)
                self._lexical = mode == "lexical"
                if not self._lexical and index.embedder_identity is not None:
                    index.close()
                    index = Index.open(self.path, _embedder(self.embedder, index.embedder_name))
                self._index = index
            return self._index

    def saved(self) -> dict[str, Any]:
        """What to write down so that another process can open the same."""
        return {"index": str(self.path), "embedder": self.embedder}

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave behind what was opened, for pickle."""
        return IndexSource, (self.path, self.embedder)


def emitted(tree: Tree, emit: Emit) -> Iterator[tuple[Chunk, Chunk]]:
    """Choose chunks of a tree.

    Args:
        tree: of a document.
        emit: the parents; the children of every level, where a parent that has none stands for
            itself, so that no text is left out; or all.

    Yields:
        A chunk and its parent, which is itself for a parent; in the order of the document.
    """
    for parent in tree.parents:
        if emit != "children" or not parent.children:
            yield parent, parent
        if emit != "parents":
            for child in parent.children:
                yield child, parent


def check_emit(emit: str) -> None:
    """Refuse what `emitted` does not know.

    Raises:
        UsageError: `emit` is not one of the three.
    """
    if emit not in get_args(Emit):
        raise UsageError(f"emit {emit!r} is none of {', '.join(get_args(Emit))}")


def describe(chunk: Chunk, parent: Chunk) -> dict[str, Any]:
    """What metadata tells of a chunk, in values that every vector store takes.

    ``parent_id`` is the parent's ``chunk_id``, a parent's own for a parent itself: the best score
    under each ``parent_id`` is its max-score. ``boundary_score`` has four decimals, for the last
    bits depend on what else was in the batch, and frameworks hash metadata. What a chunk does not
    have is left out.
    """
    told: dict[str, Any] = {"chunk_id": chunk.id, "parent_id": parent.id, "level": chunk.level}
    if chunk.score is not None and math.isfinite(chunk.score):
        told["boundary_score"] = round(float(chunk.score), 4) + 0.0  # −0.0 becomes 0.0
    if chunk.window is not None:
        told["window_start"], told["window_end"] = chunk.window
    if chunk.view is not None:
        told["view"] = chunk.view
    return told | _place(chunk)


def describe_hit(hit: Hit) -> dict[str, Any]:
    """What metadata tells of a parent that was found; ``piece_…`` is the part whose score it is."""
    return {
        "chunk_id": hit.parent.id,
        "rank": hit.rank,
        "piece_id": hit.piece.id,
        "piece_level": hit.piece.level,
        "piece_start": hit.piece.start,
        "piece_end": hit.piece.end,
        **_place(hit.parent),
    }


def _place(chunk: Chunk | Passage) -> dict[str, Any]:
    """Pages and titles, where the document has some; titles in one text, outermost first."""
    told: dict[str, Any] = {}
    if chunk.pages is not None:
        told["first_page"], told["last_page"] = chunk.pages
    if chunk.headings:
        told["headings"] = " › ".join(chunk.headings)
    return told


def _embedder(asked: str | None, own: str | None) -> Any:
    from lgmgc.lm.catalogue import CATALOGUE
    from lgmgc.lm.embedder import load_embedder

    return load_embedder(asked or (own if own in CATALOGUE else None))


def _plain(value: object) -> object:
    if isinstance(value, Options):
        return {name: _plain(getattr(value, name)) for name in value.changed}
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _restored(pretrained: Mapping[str, Any]) -> dict[str, Any]:
    """The other way from `_plain`."""
    kept = {key: value for key, value in pretrained.items() if value is not None}
    if "children" in kept:
        kept["children"] = tuple(kept["children"])
    if "cache" in kept:
        kept["cache"] = Path(kept["cache"])
    if "options" in kept:
        options = dict(kept["options"])
        if options.get("boundaries") is not None:
            options["boundaries"] = Path(options["boundaries"])
        try:
            kept["options"] = Options(**options)
        except TypeError as error:
            raise UsageError(f"{error}; see lgmgc.Options") from None
    return kept
