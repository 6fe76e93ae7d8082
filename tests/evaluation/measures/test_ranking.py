import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Evidence
from lgmgc.evaluation.measures.ranking import DEPTHS, dcg, ranking_measures, recall
from lgmgc.evaluation.measures.relevance import Chunking, ceiling


def test_one_question_by_hand() -> None:
    # The relevant chunk came third: it counts from k = 3 on, discounted by log2(4).
    assert [dcg(3, k) for k in (1, 2, 3, 20)] == [0, 0, 0.5, 0.5]
    assert [recall(3, k) for k in (1, 2, 3, 20)] == [0, 0, 1, 1]


def test_three_chunks_and_two_questions_by_hand() -> None:
    text = "Ann has a cat. Bob has a dog. Cid has a fox."
    chunking = Chunking.of(text, [(0, 15), (15, 30), (30, 44)])
    questions = [Evidence("Bob has a dog"), Evidence("Dan has a hen")]
    relevant = [chunking.relevant(evidence, "folded") for evidence in questions]
    assert relevant == [1, None]
    assert ceiling(relevant) == 0.5
    # The first question finds its chunk at rank 2: 1 / log2(3) = 0.6309. The second cannot.
    ranked = [[2, 1, 0], [0, 1, 2]]
    first, second = ranking_measures(ranked, [{1}, set()], depths=[1, 2, 5])
    assert first == {
        "DCG@1": 0.0,
        "DCG@2": pytest.approx(0.6309, abs=1e-4),
        "DCG@5": pytest.approx(0.6309, abs=1e-4),
        "Recall@1": 0.0,
        "Recall@2": 1.0,
        "Recall@5": 1.0,
    }
    assert set(second.values()) == {0.0}


def test_two_relevant_parents_by_hand() -> None:
    # Ranks 1 and 3: 1 + 1/2. The third relevant one was not found.
    [values] = ranking_measures([["a", "x", "b"]], [{"a", "b", "c"}], depths=[1, 2, 3])
    assert [values[f"DCG@{k}"] for k in (1, 2, 3)] == pytest.approx([1.0, 1.0, 1.5])
    assert [values[f"Recall@{k}"] for k in (1, 2, 3)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_a_parent_that_comes_again_takes_a_rank_and_counts_nothing() -> None:
    [values] = ranking_measures([["x", "x", "a", "a"]], [{"a"}], depths=[2, 4])
    assert values == {"DCG@2": 0.0, "DCG@4": 0.5, "Recall@2": 0.0, "Recall@4": 1.0}


def test_nothing_ranked_and_nothing_asked() -> None:
    assert ranking_measures([], []) == []
    [values] = ranking_measures([[]], [{"a"}])
    assert list(values) == [f"{name}@{k}" for name in ("DCG", "Recall") for k in DEPTHS]
    assert set(values.values()) == {0.0}


def test_ranks_beyond_nine_keep_their_order() -> None:
    ranked = [f"p{n}" for n in range(30)]
    [values] = ranking_measures([ranked], [{"p11"}])
    assert values["DCG@10"] == 0.0
    assert values["DCG@20"] == pytest.approx(1 / math.log2(13))


def test_without_ir_measures_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(UsageError, match=r"pip install 'lgmgc\[eval\]'"):
        ranking_measures([["a"]], [{"a"}])


@given(
    st.lists(
        st.tuples(st.permutations(range(25)), st.sets(st.integers(0, 40), max_size=4)), max_size=4
    )
)
def test_as_the_formulas(questions: list[tuple[list[int], set[int]]]) -> None:
    values = ranking_measures([found for found, _ in questions], [right for _, right in questions])
    assert len(values) == len(questions)
    for each, (found, right) in zip(values, questions, strict=True):
        ranks = [found.index(parent) + 1 for parent in right if parent in found]
        for k in DEPTHS:
            assert each[f"DCG@{k}"] == pytest.approx(sum(dcg(rank, k) for rank in ranks))
            share = sum(recall(rank, k) for rank in ranks) / max(1, len(right))
            assert each[f"Recall@{k}"] == pytest.approx(share)
