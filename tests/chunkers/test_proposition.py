import doctest
import json
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers import proposition as module
from lgmgc.chunkers.method import View
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.proposition import (
    LONGEST,
    MOST,
    PORTION,
    instruction_for_chat,
    placed,
    proposition,
    propositions,
)
from lgmgc.lm.requests import Writing
from lgmgc.text.table import Limit
from tests.chunkers.cutting import UNITS, anything, limits, table
from tests.chunkers.test_semantic import follow, laws
from tests.fake import TEXTS

TEXT = "Ada wrote a program. She met Babbage in 1833. The engine was never built."
#       4 words: 0 to 21     5: 21 to 46              5: 46 to 73

UNREADABLE = {
    "empty": "",
    "prose": "The passage says that Ada wrote a program.",
    "quoted prose": 'It says "Ada wrote a program."',
    "no list": '{"propositions": "Ada wrote a program."}',
    "unfinished": '["Ada wrote a program.", "She met',
    "unquoted": "[Ada wrote a program.]",
    "empty list": "[]",
    "no strings": "[1, null, true, 2.5, NaN]",
    "lists in lists": '[["Ada wrote a program."]]',
    "objects": '[{"fact": "Ada wrote a program."}]',
    "empty strings": '["", "  ", "\\n\\t"]',
    "half a character": '["\\ud800"]',
    "deep": "[" * 100_000,
    "deep and finished": "[" * 100_000 + "]" * 100_000,
    "a huge number": "[" + "9" * 100_000 + "]",
    "a huge string": json.dumps(["program " * LONGEST]),
    "the form itself": '["…", "…"]',
    "another's words": '["Nothing like it!"]',
}


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ('["One.", "Two."]', ["One.", "Two."]),
        ('Sure! ```json\n["One.",\n "Two."]\n``` Done [1].', ["One.", "Two."]),
        ('["One.", 2, ["Three."], {"Four": 4}, null, " Five \\n is."]', ["One.", "Five is."]),
        ('["One.", "Two.", "One."]', ["One.", "Two."]),  # the same twice would have the same id
        ('["\\ud83d\\ude00 x\\ud800"]', ["\U0001f600 x"]),
        ('["' + "x" * LONGEST + '", "' + "y" * (LONGEST + 1) + '"]', ["x" * LONGEST]),
        (json.dumps([str(k) for k in range(1_000)]), [str(k) for k in range(MOST)]),
    ],
)
def test_propositions_are_read(answer: str, facts: list[str]) -> None:
    assert propositions(answer) == facts


@pytest.mark.parametrize("answer", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_falls_back_to_the_sentences(answer: str) -> None:
    made, asked = follow(
        proposition, table(TEXT, UNITS["words"](20)), Options(), lambda request: answer
    )
    assert len(asked) == 1
    assert (made.retries, made.fallbacks) == (0, 1)
    [parent] = made.parents
    assert parent.views == (
        View(0, 21, "Ada wrote a program."),
        View(21, 46, "She met Babbage in 1833."),
        View(46, 73, "The engine was never built."),
    )


def test_passages_are_parents_and_are_asked_about() -> None:
    answers = iter(['["Ada wrote.", "Ada met Babbage."]', '["The engine was a dream."]'])
    sentences = table(TEXT, UNITS["words"](9))
    made, [requests] = follow(proposition, sentences, Options(), lambda request: next(answers))
    assert requests == [
        Writing(0, 2, instruction_for_chat(TEXT[:45]), 2 * 9 + 64),
        Writing(2, 3, instruction_for_chat(TEXT[46:]), 2 * 5 + 64),
    ]
    assert [(parent.start, parent.end, parent.score) for parent in made.parents] == [
        (0, 46, None),
        (46, 73, None),
    ]
    assert [parent.views for parent in made.parents] == [
        # Of "Ada met Babbage" the first sentence has one word, the second two.
        (View(0, 21, "Ada wrote."), View(21, 46, "Ada met Babbage.")),
        (View(46, 73, "The engine was a dream."),),
    ]
    assert made.fallbacks == 0


@pytest.mark.parametrize(
    ("fact", "span"),
    [
        ("ADA wrote the program!", (0, 21)),  # 3 of 4 and 4 words; case and marks do not count
        ("Babbage", (21, 46)),
        ("Ada wrote a program and met Babbage in 1833.", (0, 46)),
        ("She met Babbage in 1833, whose engine was never built.", (21, 73)),
        ("Ada wrote; she met Babbage; the engine was never built.", (0, 73)),
        ("She was", (21, 73)),  # 2 · 2 / (2 + 10) is more than 2 · 1 / (2 + 5)
    ],
)
def test_placed_by_hand(fact: str, span: tuple[int, int]) -> None:
    sentences = table(TEXT, UNITS["words"](20))
    assert placed(sentences, 0, 3, [fact]) == [View(*span, fact)]


def test_words_count_as_often_as_they_are_there() -> None:
    sentences = table("No. No no no. Yes no.", UNITS["words"](9))
    assert placed(sentences, 0, 3, ["No no no!"]) == [View(4, 14, "No no no!")]
    # Of equals the shortest, of these the first.
    assert placed(sentences, 0, 3, ["no"]) == [View(0, 4, "no")]


def test_views_are_in_the_documents_order_and_of_this_passage() -> None:
    sentences = table(TEXT, UNITS["words"](20))
    facts = ["The engine was a dream.", "She met Babbage.", "Ada.", "In 1833 she met him.", "Moon."]
    views = placed(sentences, 0, 3, facts)
    assert [view.text for view in views] == [facts[2], facts[1], facts[3], facts[0]]
    assert placed(sentences, 1, 3, facts[2:3]) == []


@pytest.mark.parametrize(
    ("text", "fact", "span"),
    [
        ("今天天气很好。我们去公园吧！", "天气好", (0, 7)),
        ("今天天气很好。我们去公园吧！", "我们去了公园。", (7, 14)),
        ("สวัสดีครับ. ขอบคุณมาก.", "ขอบคุณ", (12, 22)),  # without spaces, characters are words
    ],
)
def test_scripts_without_spaces(text: str, fact: str, span: tuple[int, int]) -> None:
    assert placed(table(text, UNITS["characters"](40)), 0, 2, [fact]) == [View(*span, fact)]


def test_many_passages_are_asked_about_in_portions() -> None:
    sentences = table("One two. " * 40, UNITS["words"](2))
    made, asked = follow(proposition, sentences, Options(), lambda request: '["One."]')
    assert [len(requests) for requests in asked] == [PORTION, PORTION, 8]
    assert [(parent.views[0].start, len(parent.views)) for parent in made.parents] == [
        (9 * k, 1) for k in range(40)
    ]


@pytest.mark.parametrize(
    ("text", "fallbacks", "views"),
    [("", 0, 0), (" \n\t ", 0, 0), ("x" * 200_000, 1, 1), ("https://" + "x" * 900, 0, 1)],
)
def test_blank_passages_and_data(text: str, fallbacks: int, views: int) -> None:
    made, asked = follow(
        proposition, table(text, UNITS["words"](9)), Options(), lambda request: '["https"]'
    )
    assert made.fallbacks == fallbacks
    assert len(asked) == views - fallbacks
    assert sum(len(parent.views) for parent in made.parents) == views


@given(
    st.one_of(st.sampled_from([t for t in TEXTS.values() if len(t) < 3_000]), anything),
    limits,
    st.integers(0, 99),
)
@settings(max_examples=120, deadline=None)
def test_laws(text: str, limit: Limit, seed: int) -> None:
    sentences = table(text, limit)

    def answer(request: Any) -> str:
        dice = random.Random(f"{seed} {request.start}")
        if dice.random() < 0.5:
            return dice.choice(list(UNREADABLE.values()))
        words = (request.instruction.split("Passage:")[1] or "x").split() or ["x"]
        facts = (dice.choices(words, k=dice.randint(0, 5)) for _ in range(dice.randint(0, 9)))
        return json.dumps([" ".join(fact) for fact in facts])

    made, asked = follow(proposition, sentences, Options(), answer)
    laws(sentences, made.parents)
    assert sum(map(len, asked)) <= len(made.parents)
    assert made.fallbacks <= len(made.parents)
    for parent in made.parents:
        assert bool(parent.views) == bool(text[parent.start : parent.end].strip())
        assert all(parent.start <= start < end <= parent.end for start, end, _ in parent.views)
        assert all(a[:2] <= b[:2] for a, b in pairwise(parent.views))
        assert len(set(parent.views)) == len(parent.views)
        assert all(view.text and view.text.encode() for view in parent.views)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if len(text) >= 3_000])
@pytest.mark.parametrize("unit", UNITS)
def test_laws_on_long_texts(name: str, unit: str) -> None:
    sentences = table(TEXTS[name], UNITS[unit](1_000))
    made, _ = follow(proposition, sentences, Options(), lambda request: '["key value", "Yes x"]')
    laws(sentences, made.parents)


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0
