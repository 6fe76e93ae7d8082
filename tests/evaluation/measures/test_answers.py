import math
import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.evaluation.measures.answers import best_f1, words


@pytest.mark.parametrize(
    ("answer", "right", "f1"),
    [
        # 2 of 3 words are right, 2 of 2 are given: P = 2/3, R = 1.
        ("the large red house", ["red house"], 0.8),
        # Bags: "no" is right twice. P = 2/3, R = 2/2.
        ("No, no, no!", ["no no"], 0.8),
        ("$150,000", ["$150,000$ tweets"], 2 / 3),
        ("An answer", ["answer"], 1.0),
        ("yes", ["no"], 0.0),
        ("no", ["yes", "No."], 1.0),
        ("unanswerable", ["Unanswerable"], 1.0),
        ("", ["unanswerable"], 0.0),
        # SQuAD keeps typographic quotes.
        ("it’s", ["it's"], 0.0),
        ("The", ["A"], 1.0),
    ],
)
def test_english_by_hand(answer: str, right: list[str], f1: float) -> None:
    assert best_f1(answer, right) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "right", "f1"),
    [
        # 4 characters of 5 and of 4: P = 4/5, R = 1.
        ("在北京大学。", ["北京大学"], 8 / 9),
        ("１２０％", ["１２０"], 1.0),
        ("“GPU” 服务器", ["gpu服务器"], 1.0),
        ("上海", ["北京"], 0.0),
    ],
)
def test_chinese_by_hand(answer: str, right: list[str], f1: float) -> None:
    assert best_f1(answer, right, "zh") == pytest.approx(f1)
    assert best_f1(answer, right, "zh-CN") == pytest.approx(f1)


def test_no_right_answer_is_known() -> None:
    assert math.isnan(best_f1("yes", []))


def test_each_article_goes_alone() -> None:
    assert words("a an the theatre a-b") == ["theatre", "ab"]


@given(st.text("aT .,’\n"), st.text("aT .,’\n"))
def test_as_precision_and_recall(answer: str, right: str) -> None:
    def bag(text: str) -> Counter[str]:
        kept = "".join(mark for mark in text.lower() if mark not in string.punctuation)
        return Counter(re.sub(r"\b(a|an|the)\b", " ", kept).split())

    given_, wanted = bag(answer), bag(right)
    same = sum((given_ & wanted).values())
    expected = 0.0
    if same:
        precision, recall = same / sum(given_.values()), same / sum(wanted.values())
        expected = 2 * precision * recall / (precision + recall)
    elif not given_ and not wanted:
        expected = 1.0
    assert best_f1(answer, [right]) == pytest.approx(expected)
