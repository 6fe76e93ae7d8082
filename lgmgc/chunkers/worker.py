"""One of the processes that cut documents for a run; see `lgmgc.chunkers.processes`.

It asks for a document whenever its batches have room, and tells what becomes of each. Its parent
may answer "none for now", so that it goes on with what it has.
"""

from __future__ import annotations

import contextlib
import os
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.devices import Place
from lgmgc.chunkers.load import ModelChoice
from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import DocumentError, LgmgcError


@dataclass(frozen=True, slots=True)
class Ready:
    """The models are loaded."""

    identity: Mapping[str, object] | None
    batch_tokens: int
    description: str


@dataclass(frozen=True, slots=True)
class Want:
    """There is room for a document."""


@dataclass(frozen=True, slots=True)
class Advanced:
    """A share of a document's sentences was read for the first time."""

    number: int
    share: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A document is done: its chunks as `packed` gives them, and what they took."""

    number: int
    parents: tuple[tuple[Any, ...], ...]
    taken: Counter[str]


@dataclass(frozen=True, slots=True)
class Failed:
    """A document cannot be cut."""

    number: int
    error: DocumentError


@dataclass(frozen=True, slots=True)
class Broke:
    """The process ends for an error that is not one document's."""

    error: Exception


Message = Ready | Want | Advanced | Cut | Failed | Broke
Given = tuple[int, Document] | None
"""What the parent answers to `Want`: a document with its number, or none for now."""


def work(
    connection: Connection, settings: Settings, choice: ModelChoice, place: Place, identify: bool
) -> None:
    """Cut documents until the parent closes the connection, or is no more.

    Args:
        connection: to the parent.
        settings: what decides the chunks.
        choice: of the models.
        place: where this process works.
        identify: say which models these are, for which weights are read.
    """
    os.environ.update(place.environment)  # before torch is imported, which reads it
    try:
        _work(connection, settings, replace(choice, device=place.device), identify)
    except (EOFError, ConnectionError):
        pass
    except LgmgcError as error:
        _break(connection, error)
    except Exception:
        _break(connection, RuntimeError(traceback.format_exc()))


def _work(connection: Connection, settings: Settings, choice: ModelChoice, identify: bool) -> None:
    from lgmgc.chunkers.cutter import OneProcess
    from lgmgc.chunkers.load import load_models

    cutter = OneProcess(load_models(settings, choice), settings)
    identity = cutter.identity if identify else None
    connection.send(Ready(identity, cutter.batch_tokens, cutter.description))
    numbers: dict[int, int] = {}  # by the id of the document that is held here

    def documents() -> Iterator[Document | None]:
        while True:
            connection.send(Want())
            given: Given = connection.recv()
            if given is None:
                yield None
            else:
                number, document = given
                numbers[id(document)] = number
                yield document

    def advanced(document: Document, share: float) -> None:
        connection.send(Advanced(numbers[id(document)], share))

    def failed(document: Document, error: DocumentError) -> None:
        connection.send(Failed(numbers.pop(id(document)), error))

    for tree, taken in cutter.cut(documents(), advanced, failed):
        parents = tuple(map(packed, tree.parents))
        connection.send(Cut(numbers.pop(id(tree.document)), parents, taken))


def _break(connection: Connection, error: Exception) -> None:
    with contextlib.suppress(OSError):  # the parent is no more
        connection.send(Broke(error))


def packed(chunk: Chunk) -> tuple[Any, ...]:
    """A chunk without its document, which the parent has."""
    children = tuple(map(packed, chunk.children))
    return (
        *(chunk.id, chunk.level, chunk.start, chunk.end, chunk.words, chunk.score),
        *(children, chunk.window, chunk.view),
    )


def unpacked(document: Document, parents: tuple[tuple[Any, ...], ...]) -> Tree:
    """The other way from `packed`."""

    def chunk(fields: tuple[Any, ...]) -> Chunk:
        *place, score, children, window, view = fields
        key, level, start, end, words = place
        inner = tuple(map(chunk, children))
        return Chunk(document, key, level, start, end, words, score, inner, window, view)

    return Tree(document, tuple(map(chunk, parents)))
