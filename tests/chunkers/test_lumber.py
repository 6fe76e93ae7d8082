import doctest
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers import lumber as module
from lgmgc.chunkers.lumber import (
    BEGIN,
    MOST,
    ids_of,
    instruction,
    lumber,
    number_in,
    paragraphs,
)
from lgmgc.chunkers.method import Segmentation
from lgmgc.chunkers.options import Options, Reader
from lgmgc.lm.requests import Choice, Writing
from lgmgc.text.table import Limit, Sentences
from tests.chunkers.cutting import UNITS, anything, limits, table, texts
from tests.chunkers.test_semantic import follow, laws
from tests.fake import TEXTS

NAN, INF = float("nan"), float("inf")

USELESS = {
    "empty": "",
    "prose": "The second paragraph is about something else.",
    "the first": "Answer: ID 0001",
    "none": "Answer: ID 0000",
    "beyond": "Answer: ID 0999",
    "no number": "Answer: ID XXXX",
    "negative": "Answer: ID -x",
    "not a number": "Answer: 0002",
    "another word": "Answer: BID 0002, PID 2, valid 2",
    "huge": "Answer: ID " + "9" * 100_000,
    "huge zeros": "ID " * 50_000 + "0" * 50_000,
    "the first usable one is wrong": "Answer: ID 0001, or else ID 0002",
    "a superscript": "ID ²",
}


def ended(numbers: Iterable[int]) -> Callable[[Any], str]:
    """A model that writes these IDs, one after the other."""
    given = iter(numbers)
    return lambda request: f"Answer: ID {next(given):04}"


def lines(count: int, words: int = 2) -> str:
    """Paragraphs of so many words, a blank line between them."""
    return "".join(f"{'P' + str(k)}{' w' * (words - 1)}.\n\n" for k in range(count)).strip()


def heads(sentences: Sentences, made: Segmentation) -> list[str]:
    """The first word of each parent."""
    return [text.split()[0].strip(".") for text in texts(sentences.text, made.parents)]


@pytest.mark.parametrize(
    ("text", "theta", "expected"),
    [
        ("", 3, []),
        (" \n ", 3, [" \n "]),
        ("Aa bb. Cc.\n\nDd.\nEe.\n \n\nFf.", 3, ["Aa bb. Cc.\n\n", "Dd.\nEe.\n \n\n", "Ff."]),
        # No blank line: lines, of which the last is too long and is divided.
        (
            "Aa bb. Cc.\nDd. Ee.\nFf. Gg. Hh. Ii.",
            3,
            ["Aa bb. Cc.\n", "Dd. Ee.\n", "Ff. Gg. Hh. ", "Ii."],
        ),
        # A paragraph beyond θ is divided into its lines.
        ("Aa.\n\nBb.\nCc. Dd.\nEe.", 3, ["Aa.\n\n", "Bb.\n", "Cc. Dd.\n", "Ee."]),
        ("Aa.\n\nBb. Cc. Dd. Ee.\n\nFf.", 3, ["Aa.\n\n", "Bb. Cc. Dd. ", "Ee.\n\n", "Ff."]),
        ("Aa. Bb.\n\n", 3, ["Aa. Bb.\n\n"]),  # a blank line at the end separates nothing
        ("Aa.\nBb.\n\n", 3, ["Aa.\n", "Bb.\n\n"]),
        ("天好。\n地大。\n人。", 9, ["天好。\n", "地大。\n", "人。"]),
        ("Aa.\r\n\r\nBb.\r\rCc.", 3, ["Aa.\r\n\r\n", "Bb.\r\r", "Cc."]),
    ],
)
def test_paragraphs_by_hand(text: str, theta: int, expected: list[str]) -> None:
    sentences = table(text, UNITS["words"](theta))
    ends = [int(sentences.bounds[stop]) for stop in paragraphs(sentences)]
    assert [text[a:b] for a, b in pairwise([0, *ends])] == expected


@given(st.one_of(anything, st.sampled_from(list(TEXTS.values()))), limits)
@settings(max_examples=80, deadline=None)
def test_paragraphs_are_within_theta(text: str, limit: Limit) -> None:
    if len(text) > 3_000:
        limit = Limit(limit.measure, 1_000, limit.additive)
    sentences = table(text, limit)
    stops = paragraphs(sentences)
    assert all(a < b for a, b in pairwise([0, *stops]))
    assert stops[-1:] == ([len(sentences)] if text else [])
    for a, b in pairwise([0, *stops]):
        assert limit.fits(text[sentences.bounds[a] : sentences.bounds[b]])


def test_the_next_group_starts_at_the_answered_paragraph() -> None:
    sentences = table(lines(7), UNITS["words"](10))
    # Five paragraphs fit in θ, and a sixth is shown. From P3 the four left are shown, from P5 two
    # are left, which fit and are not asked about.
    made, asked = follow(lumber, sentences, Options(), ended([4, 3]))
    assert heads(sentences, made) == ["P0", "P3", "P5"]
    assert [(one.start, one.stop) for [one] in asked] == [(0, 6), (3, 7)]
    assert asked[0] == [
        Writing(0, 6, instruction([f"P{k} w." for k in range(6)]), MOST),
    ]
    assert (made.retries, made.fallbacks) == (0, 0)
    assert all(parent.score is None for parent in made.parents)


def test_every_answer_leaves_a_parent_within_theta() -> None:
    sentences = table(lines(9), UNITS["words"](10))
    made, _ = follow(lumber, sentences, Options(), ended([6, 4]))
    assert heads(sentences, made) == ["P0", "P5", "P8"]  # of 10 words, 6, 2


def test_a_group_has_as_many_tokens_as_asked_for() -> None:
    # A paragraph of 5 words is 6 tokens: 4 are 24, and 2 are the least.
    sentences = table(lines(9, words=5), UNITS["words"](100))
    for group, shown in ((24, 4), (23, 3), (29, 4), (30, 5), (10**30, 9)):
        _, asked = follow(lumber, sentences, Options(group=group), ended([2] * 9))
        assert asked[0][0].stop == shown
    made, asked = follow(lumber, sentences, Options(group=1), ended([]))
    assert asked == []  # of two, only the second can be answered
    assert heads(sentences, made) == [*(f"P{k}" for k in range(8))]  # the last two fit in θ


def test_the_last_two_are_divided_where_they_do_not_fit() -> None:
    sentences = table(lines(4), UNITS["words"](3))
    made, asked = follow(lumber, sentences, Options(), ended([]))
    assert asked == []
    assert heads(sentences, made) == ["P0", "P1", "P2", "P3"]


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("Answer: ID 0003", 3),
        ("answer: id 3.", 3),
        ("ID 0003", 3),
        ("It begins with ID 0002, so\n**Answer: ID 0003**", 3),
        ("ID 0002 and then the answer", 2),
        ("ID: 0003 is the answer. ID 0004", 4),
        ("答案是ID 0003。", 3),
        ("Answer: ID ００12", 12),
        ("Answer: ID #0003", 3),
        ("Answer: ID0003", 3),
        ("", None),
        ("3", None),
    ],
)
def test_an_id_is_read(answer: str, number: int | None) -> None:
    assert number_in(answer) == number


@pytest.mark.parametrize("answer", USELESS.values(), ids=USELESS.keys())
def test_a_useless_answer_is_asked_for_again_and_then_given_up(answer: str) -> None:
    sentences = table(lines(7), UNITS["words"](10))
    paragraph = [f"P{k} w." for k in range(6)]
    again = Writing(0, 6, instruction(paragraph, again=True), MOST)
    answers = iter([answer, "Answer: ID 0006", answer, answer])
    made, asked = follow(lumber, sentences, Options(), lambda request: next(answers))
    assert asked[1] == [again] != asked[0]
    assert heads(sentences, made) == ["P0", "P5"]
    assert len(asked) == 2
    assert (made.retries, made.fallbacks) == (1, 0)
    # Given up: the parent is what fits of the group, five of its six.
    made, asked = follow(lumber, sentences, Options(), lambda request: answer)
    assert heads(sentences, made) == ["P0", "P5"]
    assert (made.retries, made.fallbacks) == (1, 1)
    # Where all that is left fits, it is the last parent.
    sentences = table(lines(4), UNITS["words"](10))
    made, _ = follow(lumber, sentences, Options(), lambda request: answer)
    assert heads(sentences, made) == ["P0"]


@pytest.mark.parametrize(
    ("weights", "place", "score"),
    [
        ([-3.0, -1.0, -2.0, -9.0, -9.0], 2, -1.0),
        ([-1.0] * 5, 5, -1.0),
        ([NAN, -2.0, NAN, -INF, -3.0], 2, -2.0),
        ([NAN] * 5, None, None),
        ([-INF] * 5, None, None),
    ],
)
def test_answers_are_weighed(weights: list[float], place: int | None, score: float | None) -> None:
    sentences = table(lines(7), UNITS["words"](10))
    options = ("0002", "0003", "0004", "0005", "0006")
    made, asked = follow(
        lumber,
        sentences,
        Options(reader="logits"),
        lambda request: np.array(weights if request.start == 0 else [0.0] * len(request.options)),
    )
    paragraph = [f"P{k} w." for k in range(6)]
    assert asked[0] == [Choice(0, 6, instruction(paragraph), BEGIN, options)]
    assert heads(sentences, made)[1] == f"P{place or 5}"
    assert made.parents[0].score == score
    assert (made.retries, made.fallbacks) == (0, int(place is None))


def test_the_instruction_in_two_languages() -> None:
    english = instruction(["A {b}.", "C."], again=True)
    assert "ID 0001: A {b}.\nID 0002: C.\n" in english
    assert english.count("ID 0001") == 2  # in the task, as the one that is not meant
    assert english.endswith("one of 0002 to 0002.")
    chinese = instruction(["天好 (weather)。", "地。"])
    assert "ID 0001: 天好 (weather)。\nID 0002: 地。\n" in instruction(["天好 (weather)。", "地。"])
    assert "Answer: ID XXXX" in english
    assert chinese.startswith("Below")  # 3 of 10 letters are Han
    chinese = instruction(["天气很好。", "OK。"])
    assert chinese.startswith("下面")
    assert "Answer: ID XXXX" in chinese
    assert "至 0002" in instruction(["天气很好。", "OK。"], again=True)


def test_no_id_begins_another() -> None:
    for count in (1, 9, 10, 10_000):
        ids = ids_of(count)
        assert len({len(label) for label in ids}) == 1
        assert [int(label) for label in ids] == list(range(1, count + 1))


def test_chinese_text_is_grouped_by_characters() -> None:
    text = "今天天气很好。\n" * 9  # 6 tokens a line, and the full stop is the sixth's
    _, asked = follow(lumber, table(text, UNITS["words"](100)), Options(group=24), ended([2] * 9))
    assert [one.stop - one.start for [one] in asked] == [4] * 6 + [3]
    assert asked[0][0].instruction.startswith("下面")


@pytest.mark.parametrize("name", ["a word of 200,000 characters", "base64", "YAML"])
def test_no_text_makes_a_long_prompt(name: str) -> None:
    text = f"First.\n\nSecond.\n\nThird.\n\n{TEXTS[name]}\n\nLast.\n\n" * 3
    sentences = table(text, UNITS["words"](1_000))
    _, asked = follow(lumber, sentences, Options(), lambda one: "Answer: ID 0060")
    assert asked
    # 8 characters for each of 550 tokens, an ID for each of at most so many paragraphs, the task.
    assert max(len(one.instruction) for [one] in asked) <= 550 * (8 + 10) + 1_000


def seeded(seed: int, request: Any) -> Any:
    dice = random.Random(f"{seed} {request.start}")
    if isinstance(request, Choice):
        return np.array([dice.choice([NAN, -INF, -1.0, dice.random()]) for _ in request.options])
    useless: Sequence[str] = list(USELESS.values())
    return dice.choice([*useless, *(f"Answer: ID {dice.randint(1, 30):04}" for _ in useless)])


@given(
    st.one_of(
        st.sampled_from([text for text in TEXTS.values() if len(text) < 3_000]),
        anything,
        st.lists(st.sampled_from(["ab. ", "A b.\n", "B.\n\n", "天。\n"]), max_size=80).map("".join),
    ),
    limits,
    st.integers(1, 30),
    st.sampled_from(["generate", "logits"]),
    st.integers(0, 99),
)
@settings(max_examples=150, deadline=None)
def test_laws(text: str, limit: Limit, group: int, reader: Reader, seed: int) -> None:
    sentences = table(text, limit)
    made, asked = follow(
        lumber, sentences, Options(group=group, reader=reader), lambda one: seeded(seed, one)
    )
    laws(sentences, made.parents)
    count = len(paragraphs(sentences))
    assert len(made.parents) <= count
    assert len(asked) == len({one.start for [one] in asked}) + made.retries
    assert len(asked) <= max(0, count - 1) * (1 if reader == "logits" else 2)
    for [one] in asked:
        assert one.start < one.stop
        if isinstance(one, Choice):
            assert len(one.options) >= 2
            assert all(option.isdigit() and option != "0001" for option in one.options)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if len(text) >= 3_000])
@pytest.mark.parametrize("unit", UNITS)
def test_laws_on_long_texts(name: str, unit: str) -> None:
    sentences = table(TEXTS[name], UNITS[unit](1_000))
    for reader in ("generate", "logits"):
        options = Options(reader=reader, group=100)
        laws(sentences, follow(lumber, sentences, options, lambda one: seeded(1, one))[0].parents)


@pytest.mark.parametrize("number", [2, 5, 999])
def test_law_5_requests_are_linear(number: int) -> None:
    read = []
    for count in (200, 400, 800):
        sentences = table(lines(count), UNITS["words"](40))
        options = Options(group=24)
        _, asked = follow(lumber, sentences, options, lambda one: f"Answer: ID {number:04}")
        read.append(sum(len(one.instruction) for [one] in asked) / count)
    assert max(read) <= 1.1 * min(read)


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0
