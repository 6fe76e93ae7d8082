import math

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.evaluation.measures.budget import Delivery, deliver

RANKED = [("a", 10, 20), ("b", 0, 30), ("a", 15, 25), ("a", 0, 10)]
TOKENS = [3, 8, 3, 3]
EVIDENCE = [("a", 18, 28)]


def test_by_hand() -> None:
    # The first parent holds 2 of the 10 characters, in 10; the first and third 7, in 15 + 30.
    assert deliver(RANKED, TOKENS, EVIDENCE, 2) == Delivery(0, 0, 0.0, 0.0)
    assert deliver(RANKED, TOKENS, EVIDENCE, 3) == Delivery(1, 3, 0.2, 0.2)
    assert deliver(RANKED, TOKENS, EVIDENCE, 11) == Delivery(2, 11, 0.2, 2 / 40)
    assert deliver(RANKED, TOKENS, EVIDENCE, 14) == Delivery(3, 14, 0.7, 7 / 45)
    assert deliver(RANKED, TOKENS, EVIDENCE, 999) == Delivery(4, 17, 0.7, 7 / 55)


def test_a_parent_that_does_not_fit_ends_the_delivery() -> None:
    # The third would fit into 10, but the second does not.
    assert deliver(RANKED, TOKENS, EVIDENCE, 10).parents == 1


def test_nothing() -> None:
    assert deliver([], [], EVIDENCE, 10) == Delivery(0, 0, 0.0, 0.0)
    count, spent, recall, precision = deliver(RANKED, TOKENS, [], 3)
    assert (count, spent) == (1, 3)
    assert math.isnan(recall)
    assert math.isnan(precision)


@given(st.lists(st.integers(1, 9), max_size=8), st.integers(0, 40), st.integers(0, 40))
def test_a_larger_budget_delivers_no_less(tokens: list[int], one: int, other: int) -> None:
    ranked = [("a", 10 * k, 10 * k + 10) for k in range(len(tokens))]
    small, large = (deliver(ranked, tokens, [("a", 5, 35)], each) for each in sorted((one, other)))
    assert small.tokens <= min(one, other)
    assert (small.parents, small.recall) <= (large.parents, large.recall)
