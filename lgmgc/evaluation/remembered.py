"""Models that look their answers up before they work, and count what they cost either way."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lgmgc.evaluation.answer_cache import Answer, AnswerCache
from lgmgc.lm.windows import BoundaryScorer, Encoder, ScoreArray, TokenWindow
from lgmgc.lm.writer import Writer
from lgmgc.retrieval.embedding import Rows, TextEmbedder

Asked = TypeVar("Asked")


@dataclass(slots=True)
class Cost:
    """What a model did, now or when it was asked the same before.

    Attributes:
        seconds: of model time, as measured when each request was first made.
        spent: now, in the model and in looking up and keeping what it answers.
        tokens: read and written.
        asked: requests; one that comes twice counts twice, in seconds and tokens too, for a run
            without a cache would ask it twice.
        remembered: those of them that were answered from the cache.
    """

    seconds: float = 0.0
    spent: float = 0.0
    tokens: int = 0
    asked: int = 0
    remembered: int = 0


class Memory:
    """Asks a model only what the cache does not know.

    Attributes:
        cost: of all that was asked through it.
    """

    def __init__(self, cache: AnswerCache, identity: str) -> None:
        """Begin to count.

        Args:
            cache: may be shared by any number of models.
            identity: what changes whenever the model's answers would.
        """
        self.cost = Cost()
        self._cache = cache
        self._identity = identity.encode()

    def answers(
        self,
        requests: Sequence[Asked],
        describe: Callable[[Asked], bytes],
        size: Callable[[Asked], int],
        ask: Callable[[Sequence[Asked]], Sequence[bytes]],
    ) -> list[bytes]:
        """An answer to each request.

        Args:
            requests: to be answered together where the model must be asked.
            describe: all that decides a request's answer.
            size: the tokens of a request; the time of a call is shared out by them.
            ask: the model.
        """
        arrived = time.perf_counter()
        keys = [hashlib.sha256(self._identity + describe(each)).digest() for each in requests]
        known = self._cache.get(keys)
        missing = {key: k for k, key in enumerate(keys) if known[k] is None}
        if missing:
            began = time.perf_counter()
            values = ask([requests[k] for k in missing.values()])
            seconds = time.perf_counter() - began
            sizes = [size(requests[k]) for k in missing.values()]
            total = max(1, sum(sizes))
            fresh = {
                key: Answer(value, seconds * tokens / total, tokens)
                for key, value, tokens in zip(missing, values, sizes, strict=True)
            }
            self._cache.put(fresh.items())
            known = [answer or fresh[key] for key, answer in zip(keys, known, strict=True)]
        found = [answer for answer in known if answer is not None]
        self.cost.spent += time.perf_counter() - arrived
        self.cost.seconds += sum(answer.seconds for answer in found)
        self.cost.tokens += sum(answer.tokens for answer in found)
        self.cost.asked += len(found)
        self.cost.remembered += len(found) - len(missing)
        return [answer.value for answer in found]


PORTION = 1024
"""Texts that are embedded before their vectors are kept, so that a run killed in the midst of a
large collection has lost no more."""


class RememberedScorer:
    """A scorer with a memory."""

    def __init__(self, scorer: BoundaryScorer, memory: Memory) -> None:
        self._scorer = scorer
        self._memory = memory

    @property
    def encode(self) -> Encoder:
        """The model's tokenizer."""
        return self._scorer.encode

    @property
    def context(self) -> int:
        """How many tokens of text one window may hold."""
        return self._scorer.context

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        """As `BoundaryScorer.score`."""
        values = self._memory.answers(
            windows,
            describe=lambda window: b"\0".join(
                (
                    "+".join(window.signals).encode(),
                    window.ids.tobytes(),
                    window.ends.tobytes(),
                    b"" if window.rarity is None else window.rarity.tobytes(),
                )
            ),
            size=lambda window: len(window.ids),
            ask=lambda some: [scores.tobytes() for scores in self._scorer.score(some)],
        )
        return [
            np.frombuffer(value).reshape(len(window.signals), len(window.ends))
            for window, value in zip(windows, values, strict=True)
        ]


class RememberedWriter:
    """A writer with a memory."""

    def __init__(self, writer: Writer, memory: Memory) -> None:
        self.context = writer.context
        self.count = writer.count
        self.prompt_length = writer.prompt_length
        self._writer = writer
        self._memory = memory

    def write(self, instruction: str, most: int, *, system: str = "") -> str:
        """As `Writer.write`; what was written is counted by its most."""
        request = f"write\0{most}\0{system}\0{instruction}"
        [value] = self._memory.answers(
            [request],
            describe=str.encode,
            size=lambda _: self._writer.prompt_length(instruction, system) + most,
            ask=lambda _: [self._writer.write(instruction, most, system=system).encode()],
        )
        return value.decode()

    def weigh(self, instruction: str, begin: str, options: Sequence[str]) -> ScoreArray:
        """As `Writer.weigh`."""
        request = "\0".join(("weigh", begin, *options, instruction))
        [value] = self._memory.answers(
            [request],
            describe=str.encode,
            size=lambda _: self._writer.prompt_length(instruction),
            ask=lambda _: [self._writer.weigh(instruction, begin, options).tobytes()],
        )
        return np.frombuffer(value)


class RememberedEmbedder:
    """An embedder with a memory."""

    def __init__(
        self, embedder: TextEmbedder, memory: Memory, count: Callable[[str], int] = len
    ) -> None:
        """Put the parts together.

        Args:
            embedder: the model.
            memory: its own.
            count: the tokens of a text.
        """
        self._embedder = embedder
        self._memory = memory
        self._count = count
        self.dimensions = embedder.dimensions

    def passages(self, texts: Sequence[str]) -> Rows:
        """As `TextEmbedder.passages`."""
        return self._rows(texts, b"passage\0", self._embedder.passages)

    def queries(self, texts: Sequence[str]) -> Rows:
        """As `TextEmbedder.queries`."""
        return self._rows(texts, b"query\0", self._embedder.queries)

    def _rows(
        self, texts: Sequence[str], kind: bytes, embed: Callable[[Sequence[str]], Rows]
    ) -> Rows:
        values: list[bytes] = []
        for start in range(0, len(texts), PORTION):
            values += self._memory.answers(
                texts[start : start + PORTION],
                describe=lambda text: kind + text.encode(),
                size=self._count,
                ask=lambda some: [row.astype("<f4").tobytes() for row in embed(some)],
            )
        return np.frombuffer(b"".join(values), "<f4").reshape(len(texts), self.dimensions)
