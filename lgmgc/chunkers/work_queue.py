"""The one queue of documents that several processes share, and what has become of each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError
from lgmgc.lm.scheduler import IN_FLIGHT

AHEAD = 8
"""Documents a process that are read before one asks for them: what sharing out goes by."""
_AHEAD_CHARACTERS = 1 << 24

Result = tuple[Tree, Counter[str]] | DocumentError


class Later(Enum):
    """No answer yet."""

    LATER = auto()


LATER: Final = Later.LATER


@dataclass(eq=False, slots=True)
class Holder:
    """Who cuts documents.

    Attributes:
        held: what it has to cut, by number.
        alone: it has a document whose holder died, and gets no other beside it.
    """

    held: dict[int, Document] = field(default_factory=dict)
    alone: bool = False

    @property
    def load(self) -> int:
        """Characters that it has to cut."""
        return sum(len(document.text) for document in self.held.values())


class WorkQueue:
    """Gives documents out evenly, and their results in the order that they came in."""

    def __init__(self, documents: Iterable[Document], holders: Sequence[Holder]) -> None:
        """Begin; nothing is read yet.

        Args:
            documents: taken from as they are needed, and a few ahead.
            holders: they share them; one that died may be replaced in place.
        """
        self._source = iter(documents)
        self._holders = holders
        self._ended = False
        self._ahead: deque[tuple[int, Document]] = deque()
        self._again: deque[tuple[int, Document]] = deque()
        self._results: dict[int, tuple[Document, Result]] = {}
        self._read = 0
        self._delivered = 0

    @property
    def done(self) -> bool:
        """Whether every result was delivered."""
        return self._ended and self._delivered == self._read

    @property
    def may_read(self) -> bool:
        """Whether `read` would read; what bounds memory (law 5)."""
        return (
            not self._ended
            and len(self._ahead) < AHEAD * len(self._holders)
            and self._waiting < _AHEAD_CHARACTERS * len(self._holders)
            and self._read - self._delivered < IN_FLIGHT * len(self._holders)
        )

    def read(self) -> None:
        """Read one document ahead, if there is room."""
        if self.may_read:
            document = next(self._source, None)
            if document is None:
                self._ended = True
            else:
                self._ahead.append((self._read, document))
                self._read += 1

    def offer(self, holder: Holder) -> tuple[int, Document] | Later | None:
        """Answer one that has room for a document.

        Returns:
            A document with its number, which it holds from now on; None if it is to go on with what
            it has; `LATER` if that is known after the next `read` or result only.
        """
        if not holder.held:
            holder.alone = bool(self._again)
        queue = self._again if holder.alone else self._ahead
        if holder.held and (holder.alone or not queue or not self._fits(holder)):
            return LATER if self.may_read and not holder.alone else None
        if not queue:
            return LATER
        number, document = queue.popleft()
        holder.held[number] = document
        return number, document

    def take_back(self, holder: Holder, given: tuple[int, Document] | None) -> None:
        """Undo an offer that did not reach its holder."""
        if given is not None:
            del holder.held[given[0]]
            (self._again if holder.alone else self._ahead).appendleft(given)

    def settle(self, holder: Holder, number: int, result: Result) -> None:
        """Take a document's result from its holder."""
        self._results[number] = holder.held.pop(number), result

    def lost(self, holder: Holder, how: str) -> None:
        """Take back what one held that died: once more, each alone; what was alone fails.

        Args:
            holder: who died.
            how: to end the sentence "the process that cut it".
        """
        for number, document in list(holder.held.items()):
            if holder.alone:
                error = DocumentError(
                    f"{document.id}: the process that cut it {how}, twice; leave it out, or see "
                    "whether memory ran out"
                )
                self.settle(holder, number, error)
            else:
                self._again.append((number, holder.held.pop(number)))

    def results(self) -> Iterator[tuple[Document, Result]]:
        """Deliver what is done, up to the first document that is not."""
        while self._delivered in self._results:
            self._delivered += 1
            yield self._results.pop(self._delivered - 1)

    @property
    def _waiting(self) -> int:
        return sum(len(document.text) for _, document in self._ahead)

    def _fits(self, holder: Holder) -> bool:
        """Whether the next document's middle lies within an even share of all that is known."""
        known = self._waiting + sum(each.load for each in self._holders)
        middle = holder.load + len(self._ahead[0][1].text) / 2
        return middle <= known / len(self._holders)
