"""Answers by a writer that the test scripts: what it reads, and what is made of its words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lgmgc.errors import UsageError
from lgmgc.retrieval import Index
from lgmgc.retrieval.answer import NOT_KNOWN, NOT_THERE, SYSTEM, Answer, Answerer, cited
from lgmgc.retrieval.hyde import Hyde

from .fake import Bag, Plane, paragraphs
from .test_hyde import Scripted


class Script:
    """A model whose tokens are words, and whose answer is given.

    Attributes:
        read: system's and user's turn of each prompt.
    """

    def __init__(self, answer: str, context: int = 10_000) -> None:
        self.answer = answer
        self.context = context
        self.read: list[tuple[str, str]] = []

    def count(self, text: str) -> int:
        return len(text.split())

    def prompt_length(self, instruction: str, system: str = "") -> int:
        return self.count(instruction) + self.count(system) + 2

    def stream(self, instruction: str, most: int, *, system: str = "") -> Iterator[str]:
        assert self.prompt_length(instruction, system) + most <= self.context
        self.read.append((system, instruction))
        yield from self.answer


FRAME = 4
"""Words of '[1] "a.txt":' and the lines around a passage."""
CUT = FRAME + 2

TREES = [
    paragraphs("a.txt", "boat sail rope", "tide wind"),
    paragraphs("b.txt", "boat boat boat wind", "sea"),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.open(tmp_path / "i.db", Bag(64), create=True) as index:
        index.add(TREES)
        yield index


def test_best_parents_in_order_with_citations(index: Index) -> None:
    writer = Script(" The boat sails [2]. It is windy [2, 1].\n")
    heard: list[str] = []
    answer = Answerer(index, writer).ask("boat", 2, heard.append)
    hits = index.search("boat", 2)
    assert [hit.text for hit in hits] == ["boat boat boat wind\n", "boat sail rope\n"]
    assert answer.text == "The boat sails [2]. It is windy [2, 1]."
    assert "".join(heard) == writer.answer
    assert len(heard) > 20  # as it comes
    assert answer.found
    assert [(s.number, s.document, s.start, s.end) for s in answer.sources] == [
        (1, "b.txt", 0, 20),
        (2, "a.txt", 0, 15),
    ]
    assert [s.score for s in answer.sources] == [hit.score for hit in hits]
    assert answer.citations == answer.sources
    assert answer.answer_tokens == 9

    [(system, instruction)] = writer.read
    assert answer.prompt_tokens == writer.prompt_length(instruction, system)
    assert NOT_THERE in system
    assert instruction == (
        '[1] "b.txt":\n=====\nboat boat boat wind\n=====\n\n'
        '[2] "a.txt":\n=====\nboat sail rope\n=====\n\n'
        "Question: boat"
    )


def test_a_number_that_was_not_given_is_no_citation(index: Index) -> None:
    answer = Answerer(index, Script("So [2], and so [9] and [0].")).ask("boat", 2)
    assert [s.number for s in answer.citations] == [2]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (NOT_THERE, False),
        ("the passages do not hold the answer", False),
        ("The  passages do not\nhold the **answer** [1]. Perhaps a boat?", False),
        ("The passages hold the answer: a boat.", True),
        (NOT_KNOWN, True),
    ],
)
def test_whether_it_was_found(index: Index, said: str, found: bool) -> None:
    assert Answerer(index, Script(said)).ask("boat").found == found


def test_stream_returns_the_answer(index: Index) -> None:
    stream = Answerer(index, Script("A boat [1].")).stream("boat")
    assert next(stream) == "A"
    ended: list[Answer] = []

    def through() -> Iterator[str]:
        ended.append((yield from stream))

    assert "".join(through()) == " boat [1]."
    [answer] = ended
    assert answer == Answerer(index, Script("A boat [1].")).ask("boat")


def test_nothing_found_asks_no_model(tmp_path: Path, index: Index) -> None:
    writer = Script("never")
    answer = Answerer(index, writer, mode="lexical").ask("volcano")
    assert (answer.text, answer.found, answer.sources) == (NOT_THERE, False, ())
    with Index.open(tmp_path / "empty.db", Bag(), create=True) as empty:
        assert Answerer(empty, writer).ask("boat").text == NOT_THERE
    assert writer.read == []


def test_closed_book() -> None:
    writer = Script("Paris.")
    answer = Answerer(None, writer).ask("What is the capital of France?")
    assert (answer.text, answer.found, answer.sources) == ("Paris.", True, ())
    [(system, instruction)] = writer.read
    assert "passage" not in system + instruction
    assert not Answerer(None, Script(f"{NOT_KNOWN}")).ask("Who?").found


def test_whole_document(index: Index) -> None:
    writer = Script("[1]")
    [source] = Answerer(index, writer, whole_document=True).ask("tide", 5).sources
    assert (source.document, source.start, source.end) == ("a.txt", 0, 25)
    assert source.text == index.document_text("a.txt") == "boat sail rope\ntide wind\n"
    [source] = (
        Answerer(index, writer, whole_document=True, context_tokens=CUT + 1).ask("tide").sources
    )
    assert source.text == "boat "
    assert source.cut


def test_budgets(index: Index) -> None:
    def given(**options: Any) -> list[tuple[str, bool]]:
        context = options.pop("context", 10_000)
        answer = Answerer(index, Script("", context), **options).ask("boat wind", 3)
        return [(s.text, s.cut) for s in answer.sources]

    first, second, third = [hit.text for hit in index.search("boat wind", 3)]
    assert [len(text.split()) for text in (first, second, third)] == [4, 2, 3]
    assert given() == [(first, False), (second, False), (third, False)]
    assert given(context_tokens=FRAME + 4) == [(first, False)]
    assert given(context_tokens=FRAME + 4 + FRAME + 2) == [(first, False), (second, False)]
    assert given(context_tokens=FRAME + 3) == [(second, False)]  # the first is too long
    assert given(context_tokens=FRAME + 2) == [(second, False)]
    bare = Script("").prompt_length("Question: boat wind", SYSTEM)
    assert given(context=bare + FRAME + 4 + 256) == [(first, False)]
    assert given(context=bare + FRAME + 4 + 7, most=7) == [(first, False)]


def test_the_first_is_cut_where_none_fits(tmp_path: Path) -> None:
    with Index.open(tmp_path / "i.db", create=True) as index:
        index.add([paragraphs("a.txt", " ".join(["boat"] * 40))])
        answerer = Answerer(index, Script(""), context_tokens=CUT + 12)
        [source] = answerer.ask("boat").sources
        assert (source.text, source.start, source.end, source.cut) == ("boat " * 12, 0, 60, True)
        with pytest.raises(UsageError, match="no text fits beside the question"):
            Answerer(index, Script(""), context_tokens=CUT).ask("boat")
        with pytest.raises(UsageError, match="no text fits beside the question"):
            Answerer(index, Script("", context=10)).ask("boat")


def test_mode_hyde_and_bonus_reach_the_search(tmp_path: Path) -> None:
    plane = Plane({"who": (1, 0), "Hens.": (0, 1), "ox\n": (0.9, 0.1), "hen\n": (0.1, 0.9)})
    with Index.open(tmp_path / "i.db", plane, create=True) as index:
        index.add([paragraphs("d", "ox", "hen")])

        def first(question: str = "who", **options: Any) -> str:
            answer = Answerer(index, Script(""), **options).ask(question, 1)
            return answer.sources[0].text

        assert first() == "ox\n"
        assert first(hyde=Hyde(Scripted("Hens."), plane)) == "hen\n"
        assert first("hen", mode="lexical") == "hen\n"
        [source] = Answerer(index, Script(""), level_bonus=[0.5]).ask("who", 1).sources
        assert source.score > 1


def test_an_index_without_vectors_is_searched_by_words(tmp_path: Path) -> None:
    with Index.open(tmp_path / "i.db", create=True) as index:
        index.add(TREES)
        [source] = Answerer(index, Script("")).ask("tide").sources
        assert source.text == "tide wind\n"


def test_what_cannot_be(index: Index) -> None:
    wrong: list[dict[str, Any]] = [{"most": 0}, {"context_tokens": 0}]
    for options in wrong:
        with pytest.raises(UsageError, match="it needs at least 1"):
            Answerer(index, Script(""), **options)
    answerer = Answerer(index, Script(""))
    with pytest.raises(UsageError, match="the question is empty"):
        answerer.ask(" \n")
    for whole in (False, True):
        with pytest.raises(UsageError, match="k is 0"):
            Answerer(index, Script(""), whole_document=whole).ask("boat", 0)


def test_cited() -> None:
    assert cited("None.") == set()
    assert cited("[x] [1a] [] [-1] (2) [12345]") == set()
    assert cited("[1][2] [ 3 ]") == {1, 2}
    assert cited("[9-7] [1–3] [Passages 5 and 6]") == {1, 2, 3, 5, 6, 9}
