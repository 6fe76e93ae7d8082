from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lgmgc.evaluation import remembered
from lgmgc.evaluation.answer_cache import AnswerCache
from lgmgc.evaluation.remembered import (
    Memory,
    RememberedEmbedder,
    RememberedScorer,
    RememberedWriter,
)
from lgmgc.lm.requests import Signal
from lgmgc.lm.windows import TokenWindow
from tests.evaluation.made import ChosenEmbedder, HashEmbedder, TalkingWriter
from tests.fake import SCORES, FakeScorer


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    with AnswerCache(tmp_path / "a.db") as cache:
        yield cache


class Model:
    """Answers a word with its capitals; interrupted at "!".

    Attributes:
        asked: of every call.
    """

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def ask(self, words: Sequence[str]) -> list[bytes]:
        self.asked.append(list(words))
        if "!" in words:
            raise KeyboardInterrupt
        return [word.upper().encode() for word in words]

    def through(self, memory: Memory, *words: str) -> list[bytes]:
        return memory.answers(words, describe=str.encode, size=len, ask=self.ask)


def test_each_request_is_asked_once(cache: AnswerCache) -> None:
    model, memory = Model(), Memory(cache, "m")
    assert model.through(memory, "b", "a", "b") == [b"B", b"A", b"B"]
    assert model.through(memory, "a", "c", "b", "c") == [b"A", b"C", b"B", b"C"]
    assert model.through(memory) == []
    assert [sorted(some) for some in model.asked] == [["a", "b"], ["c"]]
    assert (memory.cost.asked, memory.cost.remembered) == (7, 4)


def test_another_model_remembers_nothing(cache: AnswerCache) -> None:
    model = Model()
    model.through(Memory(cache, "m"), "a")
    model.through(Memory(cache, "n"), "a")
    model.through(Memory(cache, "m"), "a")
    assert model.asked == [["a"], ["a"]]


def test_an_interrupted_run_keeps_what_was_answered(cache: AnswerCache) -> None:
    model, memory = Model(), Memory(cache, "m")
    model.through(memory, "a", "b")
    with pytest.raises(KeyboardInterrupt):
        model.through(memory, "c", "!")
    assert model.through(Memory(cache, "m"), "a", "b", "c") == [b"A", b"B", b"C"]
    assert model.asked[2] == ["c"]


def test_what_an_answer_cost_is_remembered(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The clock is read on arrival, before and after the model, and at the end: 8 seconds apart.
    clock = count(step=8)
    monkeypatch.setattr(remembered, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    model, first = Model(), Memory(cache, "m")
    model.through(first, "a", "bbb")
    assert (first.cost.seconds, first.cost.spent, first.cost.tokens) == (8, 24, 4)
    again = Memory(cache, "m")
    model.through(again, "bbb")
    # Its share of the 8 seconds; now there were 8 between arrival and end.
    assert (again.cost.seconds, again.cost.spent, again.cost.tokens) == (6, 8, 3)
    assert (again.cost.asked, again.cost.remembered) == (1, 1)


def test_a_request_that_comes_twice_costs_what_it_would_without_a_cache(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count(step=8)
    monkeypatch.setattr(remembered, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    model, memory = Model(), Memory(cache, "m")
    model.through(memory, "a", "a", "bbb")
    assert (memory.cost.seconds, memory.cost.tokens) == (2 + 2 + 6, 5)


def window(
    text: str, *ends: int, signals: tuple[Signal, ...] = ("eos",), rarity: Sequence[float] = ()
) -> TokenWindow:
    ids = np.array([ord(character) for character in text], np.int32)
    return TokenWindow(ids, np.array(ends), signals, np.array(rarity) if rarity else None)


def test_scores_come_back_as_they_were(cache: AnswerCache) -> None:
    windows = [
        window("One. Two. ", 5, 10),
        window("One. Two. Six.", 5, 10, 14, signals=("eos", "surprise")),
        window("x", 1),
    ]
    scorer = FakeScorer(SCORES["half nan"])
    direct = FakeScorer(SCORES["half nan"]).score(windows)
    for _ in range(2):
        found = RememberedScorer(scorer, Memory(cache, "m")).score(windows)
        assert [scores.shape for scores in found] == [(1, 2), (2, 3), (1, 1)]
        assert {scores.dtype for scores in found} == {np.dtype(np.float64)}
        for scores, wanted in zip(found, direct, strict=True):
            np.testing.assert_array_equal(scores, wanted)
    assert len(scorer.batches) == 1


def test_windows_that_differ_in_anything_are_told_apart(cache: AnswerCache) -> None:
    windows = [
        window("One. Two. ", 5, 10),
        window("One. Two! ", 5, 10),
        window("One. Two. ", 4, 10),
        window("One. Two. ", 10),
        window("One. Two. ", 5, 10, signals=("topic",)),
        window("One. Two. ", 5, 10, signals=("surprise",)),
        window("One. Two. ", 5, 10, signals=("surprise",), rarity=(1.0, 2.0)),
        window("One. Two. ", 5, 10, signals=("surprise",), rarity=(1.0, 3.0)),
    ]
    scorer, memory = FakeScorer(SCORES["equal"]), Memory(cache, "m")
    RememberedScorer(scorer, memory).score(windows)
    assert len(scorer.batches[0]) == len(windows)
    assert memory.cost.tokens == 10 * len(windows)


def test_a_scorer_is_what_it_wraps(cache: AnswerCache) -> None:
    scorer = RememberedScorer(FakeScorer(SCORES["equal"], context=9), Memory(cache, "m"))
    assert scorer.context == 9
    assert scorer.encode(["ab"]) == [[97, 98]]


def wrapped(writer: TalkingWriter, memory: Memory) -> RememberedWriter:
    return RememberedWriter(writer, memory)  # type: ignore[arg-type]


def test_what_was_written_is_remembered(cache: AnswerCache) -> None:
    writer, memory = TalkingWriter("señor\n"), Memory(cache, "m")
    for _ in range(2):
        assert wrapped(writer, memory).write("Who?", 5, system="Say.") == "señor\n"
    assert writer.prompts == [("Say.", "Who?")]
    assert memory.cost.tokens == 2 * (4 + 4 + 5)
    wrapped(writer, memory).write("Who?", 6, system="Say.")
    wrapped(writer, memory).write("Who?", 5)
    wrapped(writer, memory).write("Why?", 5, system="Say.")
    assert len(writer.prompts) == 4


def test_what_was_weighed_is_remembered(cache: AnswerCache) -> None:
    writer, memory = TalkingWriter(), Memory(cache, "m")
    direct = writer.weigh("Which?", "ID ", ["1", "2", "3"])
    for _ in range(2):
        found = wrapped(writer, memory).weigh("Which?", "ID ", ["1", "2", "3"])
        assert (found.shape, found.dtype) == ((3,), np.dtype(np.float64))
        np.testing.assert_array_equal(found, direct)
    assert writer.read == 2 * len("Which?")
    wrapped(writer, memory).weigh("Which?", "ID ", ["1", "2"])
    wrapped(writer, memory).weigh("Which?", "Nr ", ["1", "2"])
    wrapped(writer, memory).write("Which?", 5)
    assert (writer.read, len(writer.prompts)) == (4 * len("Which?"), 1)


def test_vectors_come_back_as_they_were(cache: AnswerCache) -> None:
    embedder, memory = HashEmbedder(), Memory(cache, "m")
    texts = ["one", "two", "", "one"]
    direct = HashEmbedder().passages(texts)
    for _ in range(2):
        found = RememberedEmbedder(embedder, memory).passages(texts)
        assert (found.shape, found.dtype) == ((4, 4), np.dtype(np.float32))
        np.testing.assert_array_equal(found, direct)
    assert embedder.read == len("onetwo")
    assert memory.cost.asked == 8
    assert RememberedEmbedder(embedder, memory).queries([]).shape == (0, 4)


def test_a_question_is_no_passage(cache: AnswerCache) -> None:
    embedder = ChosenEmbedder({"a": (1, 0)})
    found = RememberedEmbedder(embedder, Memory(cache, "m"))
    found.passages(["a"])
    found.queries(["a"])
    assert embedder.asked == ["a", "a"]


def test_a_large_collection_is_kept_in_portions(
    cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "PORTION", 2)
    vectors: dict[str, tuple[float, float]] = {"a": (1, 0), "b": (0, 1), "c": (0.6, 0.8)}
    broken = ChosenEmbedder(vectors)  # knows no "d"
    with pytest.raises(KeyError):
        RememberedEmbedder(broken, Memory(cache, "m")).passages(["a", "b", "c", "d", "a"])
    whole = ChosenEmbedder(vectors | {"d": (1, 0)})
    found = RememberedEmbedder(whole, Memory(cache, "m")).passages(["a", "b", "c", "d", "a"])
    assert whole.asked == ["c", "d"]
    np.testing.assert_array_equal(found, np.array([*vectors.values(), (1, 0), (1, 0)], "f4"))
