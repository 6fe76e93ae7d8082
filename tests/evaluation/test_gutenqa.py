import doctest

import pytest

from lgmgc.evaluation import gutenqa
from lgmgc.evaluation.gutenqa import dcg, folded, recall, relevant, standard_error


def test_the_worked_examples() -> None:
    done = doctest.testmod(gutenqa)
    assert done.attempted >= 5
    assert done.failed == 0


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("“Well!” said he—‘no’…", "\"Well!\" said he - 'no'..."),
        ("Mr. Knightley\r\n\r\nwent", "mr knightley went"),
        ("ﬁne", "fine"),
    ],
)
def test_what_is_folded_together(text: str, alike: str) -> None:
    assert folded(text) == folded(alike)


def test_words_stay_apart() -> None:
    assert folded("well-bred") != folded("wellbred")
    assert relevant([folded("a well-bred man")], folded("well bred")) == 0


def test_one_question_by_hand() -> None:
    # The relevant chunk came third: it counts from k = 3 on, discounted by log2(4).
    assert [dcg(3, k) for k in (1, 2, 3, 20)] == [0, 0, 0.5, 0.5]
    assert [recall(3, k) for k in (1, 2, 3, 20)] == [0, 0, 1, 1]
    assert standard_error([1.0, 1.0, 1.0]) == 0.0
