"""Trees, benchmarks and models that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lgmgc.chunkers.load import ModelChoice
from lgmgc.document import Chunk, Document, Tree
from lgmgc.evaluation.answer_cache import AnswerCache
from lgmgc.evaluation.models import ExperimentModels, LanguageModel
from lgmgc.evaluation.remembered import Memory, RememberedEmbedder, RememberedWriter
from lgmgc.evaluation.results import Results, RowResult
from lgmgc.text.sizes import count_words
from tests.fake import SCORES, FakeEmbedder, FakeScorer, FakeWriter


def chunk(
    document: Document,
    start: int,
    end: int,
    level: int = 0,
    children: Sequence[Chunk] = (),
    window: tuple[int, int] | None = None,
) -> Chunk:
    return Chunk(
        document,
        f"{document.id} {level} {start} {end}",
        level,
        start,
        end,
        count_words(document.text[start:end]),
        children=tuple(children),
        window=window,
    )


def tree(document: Document, *ends: int) -> Tree:
    """Parents without children that end there; the last at the end of the text."""
    starts = [0, *ends][:-1]
    return Tree(document, tuple(chunk(document, a, b) for a, b in zip(starts, ends, strict=True)))


class ChosenEmbedder:
    """The vectors that the test gives to texts; white space around a text does not count.

    Attributes:
        asked: texts, in the order they were asked for.
    """

    name = "chosen"
    identity = "chosen"
    dimensions = 2

    def __init__(self, vectors: Mapping[str, tuple[float, float]]) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([self.vectors[text.strip()] for text in texts], np.float32)

    queries = passages


class HashEmbedder(FakeEmbedder):
    """The vectors of `FakeEmbedder`, for questions too."""

    name = "fake"
    identity = "fake"
    dimensions = 4

    def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.passages(texts)


class TalkingWriter(FakeWriter):
    """A character is a token; every answer is the same.

    Attributes:
        prompts: system and instruction of each text that was asked for.
    """

    def __init__(self, answer: str = " yes \n", context: int = 100_000) -> None:
        super().__init__()
        self.answer = answer
        self.context = context
        self.prompts: list[tuple[str, str]] = []

    def write(self, instruction: str, most: int, *, system: str = "") -> str:
        assert self.prompt_length(instruction, system) + most <= self.context
        self.prompts.append((system, instruction))
        return self.answer

    def count(self, text: str) -> int:
        return len(text)

    def prompt_length(self, instruction: str, system: str = "") -> int:
        return len(instruction) + len(system)


def remembered_embedder(folder: Path, embedder: Any) -> RememberedEmbedder:
    return RememberedEmbedder(embedder, Memory(AnswerCache(folder / "a.db"), embedder.identity))


def remembered_writer(folder: Path, writer: TalkingWriter) -> RememberedWriter:
    memory = Memory(AnswerCache(folder / "w.db"), "writer")
    return RememberedWriter(writer, memory)  # type: ignore[arg-type]


class FakeModels(ExperimentModels):
    """The fakes in the place of what is loaded; all else is real."""

    def __init__(self, folder: Path, scores: str = "last", embedder: Any = None) -> None:
        super().__init__(ModelChoice(), AnswerCache(folder / "fake.db"))
        self.fake_scorer = FakeScorer(SCORES[scores])
        self.fake_writer = TalkingWriter()
        self.fake_embedder = embedder or HashEmbedder()

    def language(self, name: str | None) -> LanguageModel:
        loaded: Any = SimpleNamespace(scorer=self.fake_scorer, batch_tokens=4096)
        return LanguageModel(loaded, f"fake {name}")

    def writer(self, name: str | None) -> tuple[RememberedWriter, Memory]:
        memory = Memory(self._cache, f"fake {name}")
        return RememberedWriter(self.fake_writer, memory), memory  # type: ignore[arg-type]

    @cached_property
    def embedder(self) -> Any:
        return self.fake_embedder


def row_result(label: str, measured: Mapping[str, Sequence[float]], **more: Any) -> RowResult:
    """A row whose questions are q0, q1 …, all of document d."""
    count = max(map(len, measured.values()), default=0)
    values = {
        f"q{k}": {name: some[k] for name, some in measured.items() if k < len(some)}
        for k in range(count)
    }
    return RowResult(
        **{
            "label": label,
            "benchmark": "own",
            "settings": {"method": "mg"},
            "sizes": {"count": 3, "mean": 10.0, "deviation": 2.0, "over": 0.0},
            "cost": {"seconds": 2.0, "words_per_second": 15.0},
            "values": values,
            "groups": dict.fromkeys(values, "d"),
            **more,
        }
    )


def results_of(*rows: RowResult, baseline: str | None = "base", **more: Any) -> Results:
    titles = {row.benchmark: f"{row.benchmark}, made here" for row in rows}
    return Results("trial", "A trial", titles, baseline, "folded", rows, **more)
