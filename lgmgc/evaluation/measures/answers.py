"""Token-bag F1 of an answer against right answers, as SQuAD and LongBench compute it."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_ASCII_MARKS = str.maketrans("", "", string.punctuation)
_WIDE_MARKS = {chr(ord(mark) + 0xFEE0) for mark in string.punctuation}


def best_f1(answer: str, right: Sequence[str], language: str = "en") -> float:
    """The F1 of the bags of tokens of an answer and a right answer; the best over all right ones.

    "unanswerable" is a word like any other, as in LongBench's qasper: where it is the right answer,
    a reader that writes just that has 1, and one that writes nothing has 0. Where neither side has
    a token (SQuAD 2's rule) F1 is 1.

    Args:
        answer: what the reader wrote.
        right: right answers.
        language: ``zh``, or ``zh-`` with anything after it, compares characters; every other
            language words.

    Returns:
        In [0, 1]; NaN where no right answer is known.

    >>> best_f1("In the old house", ["an old house", "a barn"])
    0.8
    """
    cut = characters if language.split("-")[0] == "zh" else words
    given = Counter(cut(answer))
    return max((_f1(given, Counter(cut(each))) for each in right), default=float("nan"))


def words(text: str) -> list[str]:
    """SQuAD's normalisation: lower case, no ASCII punctuation, no articles, cut at white space.

    Source: Rajpurkar et al., "SQuAD" (2016), its program ``evaluate-v1.1``.

    >>> words("The U.S. -- an ally's view")
    ['us', 'allys', 'view']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_ASCII_MARKS)).split()


def characters(text: str) -> list[str]:
    """Chinese: lower case, no punctuation, no white space, each character by itself.

    LongBench's ``qa_f1_zh`` drops the same and then compares the words that jieba cuts, so that a
    word is right or wrong as a whole. Characters need no dictionary.

    >>> characters("《红楼梦》，共 120 回。")
    ['红', '楼', '梦', '共', '1', '2', '0', '回']
    """
    return [
        each
        for each in text.lower().translate(_ASCII_MARKS)
        if not (each.isspace() or each in _WIDE_MARKS or unicodedata.category(each)[0] == "P")
    ]


def _f1(given: Counter[str], right: Counter[str]) -> float:
    total = given.total() + right.total()
    return 2 * (given & right).total() / total if total else 1.0
