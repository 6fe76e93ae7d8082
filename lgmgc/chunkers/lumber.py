"""LumberChunker: a model is shown some paragraphs and says with which of them something new begins.

Source: Duarte et al., "LumberChunker: Long-Form Narrative Document Segmentation" (arXiv 2406.17526,
EMNLP 2024 findings). The task and the format of the answer are theirs, the words are ours, and so
is the reader ``logits``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import regex

from lgmgc.chunkers.logits_guided import best
from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.sentence_packing import packed
from lgmgc.document import Document
from lgmgc.lm.requests import Choice, Writing
from lgmgc.text.sizes import count_words
from lgmgc.text.table import Sentences

BEGIN = "Answer: ID "
"""How an answer begins."""

MOST = 16
"""Tokens of an answer."""

LONG_WORD = 8
"""Characters that are a token at least: words alone would let a line of encoded data of any length
into a group, and overflow any context."""

_ENGLISH = (
    'Below are paragraphs of one document, each on a line of the form "ID XXXX: text". Find the '
    "first paragraph, other than ID {first}, where the content clearly changes compared with the "
    "paragraphs before it. Do not let a group grow very long: weigh how clear the change is "
    "against how much text stands before it.",
    'Reply with one line of the form "Answer: ID XXXX", where XXXX is the ID of that paragraph.',
    'Nothing but "Answer: ID XXXX" can be read, where XXXX is one of {second} to {last}.',
)
_CHINESE = (
    "下面是同一篇文档中的若干段落，每行一段，形式为“ID XXXX: 正文”。请找出除 ID {first} 之外，"
    "内容与前面各段相比明显发生变化的第一个段落。一组段落不宜过长：请权衡变化是否明显与前文的长短。",
    "请只用一行回答，形式为“Answer: ID XXXX”，其中 XXXX 是该段落的编号。",
    "除“Answer: ID XXXX”之外的回答无法读取，其中 XXXX 应为 {second} 至 {last} 之一。",
)
"""The task, which stands before the paragraphs; the answer's form; what a second try adds."""

_ANSWER = re.compile(r"answer", re.I)
_ID = re.compile(r"(?<![a-z])ID\W{0,3}0*(\d{1,9})(?!\d)", re.I)
_IDEOGRAPH = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
_HAN, _LETTER = regex.compile(r"\p{Han}"), regex.compile(r"\p{L}")


class Answer(NamedTuple):
    """What was read from a model.

    Attributes:
        place: which of the paragraphs begins the next group, from 0; None: no answer can be used.
        score: its log p, if answers were weighed.
        retries: how often it was asked for again.
    """

    place: int | None
    score: float | None = None
    retries: int = 0


Asking = Generator[Sequence[Choice | Writing], Sequence[Any], Answer]


def lumber(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """From the current paragraph, show a group and begin the next where the model says; repeat.

    A group has as many paragraphs as have together at most so many tokens, and two at least; and
    no more than one beyond θ, so that each answer leaves a parent within θ. Tokens are counted as
    published: 1.2 a word; a CJK character is one.

    ``generate`` has the model write its answer. One that cannot be used is asked for once more,
    with a reminder of its form: the same prompt would, decoded greedily, be answered the same. If
    that fails too, the parent is the whole group, as far as θ allows. ``logits`` weighs the
    possible answers instead; the likeliest is the answer, of equals the last, and its log p the
    parent's score.

    Where only one answer is possible nothing is asked: of two paragraphs the second begins the
    next group, unless they are the document's last and fit in θ together.

    Args:
        sentences: the document's; their first limit is θ.
        options: ``group`` and ``reader``.
        document: not needed.
    """
    ends = [0, *paragraphs(sentences)]
    count = len(ends) - 1
    tenths = np.cumsum([0, *(_tenths(_line(sentences, a, b)) for a, b in pairwise(ends))])
    most = min(10 * options.group, int(tenths[-1]))
    sizes, theta = sentences.totals[0][ends], sentences.limits[0].most
    ask = weighed if options.reader == "logits" else written
    stops: list[int] = []
    scores: list[float | None] = []
    retries = fallbacks = position = 0
    while position < count:
        in_group = int(np.searchsorted(tenths, tenths[position] + most, "right")) - 1
        in_theta = int(np.searchsorted(sizes, sizes[position] + theta, "right")) - 1
        in_theta = max(in_theta, position + 1)
        stop = min(max(in_group, position + 2), in_theta + 1, count)
        # In tokens, a beginning may be larger than the whole.
        ahead = range(position + 1, min(stop, in_theta) + 1)
        fitting = [k for k in ahead if sentences.within(ends[position], ends[k])]
        places = [k - position for k in fitting if k < stop]
        if len(places) > 1:
            runs = pairwise(ends[position : stop + 1])
            texts = [_line(sentences, a, b) for a, b in runs]
            answer = yield from ask(ends[position], ends[stop], texts, places)
            fallbacks += answer.place is None
        else:
            answer = Answer(places[0] if stop < count else None)
        retries += answer.retries
        position = fitting[-1] if answer.place is None else position + answer.place
        stops.append(ends[position])
        scores.append(answer.score)
    return Segmentation(parents(sentences, stops, scores), retries, fallbacks)


def instruction(texts: Sequence[str], again: bool = False) -> str:
    r"""What the model is asked about some paragraphs, in Chinese if they are mostly Han.

    Paragraphs are numbered within their group, all with the same number of digits: small numbers
    are easier for small models, no ID is the beginning of another, and what the model is shown
    does not depend on how far into the document it stands.

    Args:
        texts: the paragraphs, each on one line.
        again: whether a reminder of the answer's form is added.

    >>> print(instruction(["The sea left.", "It came back."]).partition("\n\n")[2])
    ID 0001: The sea left.
    ID 0002: It came back.
    <BLANKLINE>
    Reply with one line of the form "Answer: ID XXXX", where XXXX is the ID of that paragraph.
    """
    task, form, reminder = _CHINESE if _mostly_han("".join(texts)) else _ENGLISH
    ids = ids_of(len(texts))
    lines = [f"ID {label}: {text}" for label, text in zip(ids, texts, strict=True)]
    end = [reminder.format(second=ids[1], last=ids[-1])] if again else []
    return "\n".join([task.format(first=ids[0]), "", *lines, "", form, *end])


def ids_of(count: int) -> list[str]:
    """The IDs of so many paragraphs.

    >>> ids_of(3), ids_of(10_000)[0]
    (['0001', '0002', '0003'], '00001')
    """
    width = max(4, len(str(count)))
    return [f"{k:0{width}}" for k in range(1, count + 1)]


def number_in(answer: str) -> int | None:
    r"""The first ID behind the word "Answer", else the first anywhere.

    >>> number_in("ID 0001 begins.\nAnswer: ID 0003"), number_in("**ID: 4**"), number_in("the 5th")
    (3, 4, None)
    """
    word = _ANSWER.search(answer)
    found = (word and _ID.search(answer, word.end())) or _ID.search(answer)
    return int(found[1]) if found else None


def written(start: int, stop: int, texts: Sequence[str], places: Sequence[int]) -> Asking:
    """Have the model write its answer, and once more if it cannot be used.

    Args:
        start: the first sentence of the group.
        stop: one past its last.
        texts: its paragraphs.
        places: those that may be answered, from 0; the first of the group never is.
    """
    for retries, again in enumerate((False, True)):
        [answer] = yield [Writing(start, stop, instruction(texts, again), MOST)]
        number = number_in(answer)
        if number is not None and number - 1 in places:
            return Answer(number - 1, retries=retries)
    return Answer(None, retries=1)


def weighed(start: int, stop: int, texts: Sequence[str], places: Sequence[int]) -> Asking:
    """Take the answer that the model finds likeliest; none where it finds all impossible.

    Args:
        start: the first sentence of the group.
        stop: one past its last.
        texts: its paragraphs.
        places: those that may be answered, from 0; the first of the group never is.
    """
    ids = ids_of(len(texts))
    options = tuple(ids[place] for place in places)
    [scores] = yield [Choice(start, stop, instruction(texts), BEGIN, options)]
    k = best(np.asarray(scores, np.float64))
    return Answer(places[k], float(scores[k])) if math.isfinite(scores[k]) else Answer(None)


def paragraphs(sentences: Sentences) -> list[int]:
    """Whole sentences up to a blank line; in a text without blank lines, up to the line's end.

    A paragraph longer than θ is divided into its lines, and a line longer than θ into runs of
    sentences within θ.

    Returns:
        One past the last sentence of each, rising.
    """
    count = len(sentences)
    breaks = np.array([_line_breaks(text) for text in sentences.texts()[:-1]], np.int64)
    lines, blank = (np.flatnonzero(breaks >= least) + 1 for least in (1, 2))
    stops: list[int] = []
    for start, stop in pairwise([0, *(blank if len(blank) else lines).tolist(), count]):
        pieces = packed(sentences, start, stop)
        if len(pieces) > 1:
            inner = lines[np.searchsorted(lines, start, "right") : np.searchsorted(lines, stop)]
            of_lines = pairwise([start, *inner.tolist(), stop])
            pieces = [piece for line in of_lines for piece in packed(sentences, *line)]
        stops += pieces
    return stops


def _mostly_han(text: str) -> bool:
    return not text.isascii() and 2 * len(_HAN.findall(text)) > len(_LETTER.findall(text))


def _line_breaks(sentence: str) -> int:
    """The line breaks at a sentence's end."""
    space = sentence[len(sentence.rstrip()) :]
    return len(space.splitlines()) - (not space.endswith(("\n", "\r")))


def _line(sentences: Sentences, start: int, stop: int) -> str:
    return " ".join(sentences.text[sentences.bounds[start] : sentences.bounds[stop]].split())


def _tenths(line: str) -> int:
    """The tokens of a paragraph, estimated, in tenths; 10 at least.

    >>> _tenths("Two words."), _tenths("今天很好。"), _tenths("x" * 80)
    (24, 40, 100)
    """
    ideographs = len(_IDEOGRAPH.findall(line))
    others = max(0, count_words(line) - ideographs)
    return max(10, 10 * ideographs + 12 * others, math.ceil(10 * len(line) / LONG_WORD))
