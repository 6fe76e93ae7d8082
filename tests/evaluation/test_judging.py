import math

import pytest

from lgmgc.document import Chunk, Document, Tree
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question
from lgmgc.evaluation.judging import ceilings, judge
from lgmgc.evaluation.searching import Found
from tests.evaluation.made import chunk, tree

#         parent 0 (13)  parent 1 (15)    parent 2 (17)
TEXT = "The cat sat. A dog ran off. The cat sat. End."
DOCUMENT = Document("d", TEXT)
TREE = tree(DOCUMENT, 13, 28, 45)
SECOND = 1 / 1.584962500721156  # the gain at rank 2: 1 / log2(3)


def evidence(text: str, start: int | None = None, document: Document = DOCUMENT) -> Evidence:
    if start is None:
        return Evidence(text, None, document.id)
    assert document.text[start : start + len(text)] == text
    return Evidence(text, (start, start + len(text)), document.id)


def ask(*pieces: Evidence, name: str = "q") -> Question:
    return Question(name, "d", "?", evidence=pieces)


def ranked(trees: Tree, *places: int) -> list[Found]:
    return [Found(trees.parents[place], place, 1 / rank, 0) for rank, place in enumerate(places, 1)]


def measure(question: Question, *places: int, each: int = 20) -> dict[str, float]:
    """With so many tokens for each character."""
    benchmark = Benchmark("own", "t", (DOCUMENT,), (question,))
    found = [ranked(TREE, *places)]
    [values] = judge(
        benchmark, [TREE], found, lambda texts: [each * len(text) for text in texts]
    ).values()
    return values


def test_evidence_that_comes_twice_in_the_text() -> None:
    """It stands in parent 2; parent 0 has the same words. Parents come as 1, 0, 2."""
    values = measure(ask(evidence("cat sat", 32)), 1, 0, 2)
    for rule in ("lowered", "folded", "rouge"):  # by search it is parent 0, at rank 2
        assert {name: values[f"{name} ({rule})"] for name in NAMES} == pytest.approx(
            {
                "ceiling": 1,
                "DCG@1": 0, "DCG@2": SECOND, "DCG@5": SECOND, "DCG@10": SECOND, "DCG@20": SECOND,
                "Recall@1": 0, "Recall@2": 1, "Recall@5": 1, "Recall@10": 1, "Recall@20": 1,
            }
        )  # fmt: skip
    # By its span it is parent 2, at rank 3: 1 / log2(4).
    assert {name: values[f"{name} (span)"] for name in NAMES} == pytest.approx(
        {
            "ceiling": 1,
            "DCG@1": 0, "DCG@2": 0, "DCG@5": 0.5, "DCG@10": 0.5, "DCG@20": 0.5,
            "Recall@1": 0, "Recall@2": 0, "Recall@5": 1, "Recall@10": 1, "Recall@20": 1,
        }
    )  # fmt: skip
    # Parents cost 300, 260, 340: parent 1 alone within 500, all within 1,000.
    assert {name: value for name, value in values.items() if "(" not in name} == pytest.approx(
        {
            "evidence recall in 500 tokens": 0, "evidence precision in 500 tokens": 0,
            "evidence recall in 1000 tokens": 1, "evidence precision in 1000 tokens": 7 / 45,
            "evidence recall in 2000 tokens": 1, "evidence precision in 2000 tokens": 7 / 45,
            "evidence recall in 4000 tokens": 1, "evidence precision in 4000 tokens": 7 / 45,
            "character recall@5": 1, "character precision@5": 7 / 45, "character iou@5": 7 / 45,
            "precision omega": 7 / 17,
        }
    )  # fmt: skip
    assert len(values) == 4 * len(NAMES) + 12


NAMES = ("ceiling", *(f"{name}@{k}" for name in ("DCG", "Recall") for k in (1, 2, 5, 10, 20)))


def test_two_pieces_of_evidence() -> None:
    """In parents 1 and 2, which come second and first: the mean of both."""
    values = measure(ask(evidence("dog", 15), evidence("End.", 41)), 2, 1, 0)
    for rule in ("lowered", "folded", "rouge", "span"):
        both = (1 + SECOND) / 2
        assert {name: values[f"{name} ({rule})"] for name in NAMES} == pytest.approx(
            {
                "ceiling": 1,
                "DCG@1": 0.5, "DCG@2": both, "DCG@5": both, "DCG@10": both, "DCG@20": both,
                "Recall@1": 0.5, "Recall@2": 1, "Recall@5": 1, "Recall@10": 1, "Recall@20": 1,
            }
        )  # fmt: skip
    # Parents cost 340, 300, 260: within 500 parent 2 alone, with 4 of the 7 characters.
    assert {name: value for name, value in values.items() if "(" not in name} == pytest.approx(
        {
            "evidence recall in 500 tokens": 4 / 7, "evidence precision in 500 tokens": 4 / 17,
            "evidence recall in 1000 tokens": 1, "evidence precision in 1000 tokens": 7 / 45,
            "evidence recall in 2000 tokens": 1, "evidence precision in 2000 tokens": 7 / 45,
            "evidence recall in 4000 tokens": 1, "evidence precision in 4000 tokens": 7 / 45,
            "character recall@5": 1, "character precision@5": 7 / 45, "character iou@5": 7 / 45,
            "precision omega": 7 / 32,
        }
    )  # fmt: skip


def test_evidence_that_no_parent_holds() -> None:
    """It goes over a boundary: 5 characters in parent 0 and 5 in parent 1, which is found alone."""
    values = measure(ask(evidence("sat. A dog", 8)), 1)
    for rule in ("lowered", "folded", "span"):
        assert {values[f"{name} ({rule})"] for name in NAMES} == {0.0}
    # ROUGE-L recall: 1 of 3 words in parent 0, 2 of 3 in parent 1.
    assert values["ceiling (rouge)"] == values["DCG@1 (rouge)"] == 1
    assert values["character recall@5"] == 0.5
    assert values["character precision@5"] == 5 / 15
    assert values["character iou@5"] == 5 / 20
    assert values["precision omega"] == 10 / 28
    assert values["evidence recall in 500 tokens"] == 0.5


def test_evidence_without_a_span_is_judged_by_its_text_alone() -> None:
    values = measure(ask(evidence("A DOG")), 0, 1)
    assert set(values) == {
        f"{name} ({rule})" for name in NAMES for rule in ("lowered", "folded", "rouge")
    }
    assert values["DCG@20 (lowered)"] == pytest.approx(SECOND)


def test_of_several_pieces_those_with_a_span_are_judged_by_it() -> None:
    values = measure(ask(evidence("dog", 15), evidence("nowhere at all")), 1)
    assert (values["ceiling (span)"], values["Recall@1 (span)"]) == (1, 1)
    assert (values["ceiling (folded)"], values["Recall@1 (folded)"]) == (0.5, 0.5)
    assert values["character recall@5"] == 1


def test_nothing_found() -> None:
    values = measure(ask(evidence("dog", 15)))
    assert values["ceiling (folded)"] == 1
    assert values["Recall@20 (folded)"] == values["DCG@20 (folded)"] == 0
    assert values["evidence recall in 4000 tokens"] == values["character precision@5"] == 0


def test_questions_without_evidence_are_left_out() -> None:
    questions = (ask(name="a"), ask(evidence("dog", 15), name="b"), ask(name="c"))
    benchmark = Benchmark("own", "t", (DOCUMENT,), questions)
    found = [ranked(TREE, 0), ranked(TREE, 1), ranked(TREE, 2)]
    values = judge(benchmark, [TREE], found, lambda texts: [1 for _ in texts])
    assert list(values) == ["b"]
    assert values["b"]["Recall@1 (span)"] == 1
    nothing = Benchmark("own", "t", (DOCUMENT,), questions[:1])
    assert judge(nothing, [TREE], found[:1], lambda texts: [1 for _ in texts]) == {}


def test_ceilings_are_means_of_the_questions_that_a_rule_can_judge() -> None:
    questions = (
        ask(evidence("dog", 15), name="a"),
        ask(evidence("sat. A", 8), name="b"),
        ask(evidence("cat sat"), evidence("off. The"), name="c"),
    )
    benchmark = Benchmark("own", "t", (DOCUMENT,), questions)
    values = judge(benchmark, [TREE], [[], [], []], lambda texts: [1 for _ in texts])
    # lowered, folded: 1, 0, 1/2. span: 1, 0, not known. ROUGE always names one.
    assert ceilings(values) == {"lowered": 0.5, "folded": 0.5, "span": 0.5, "rouge": 1}
    assert ceilings({"a": {"F1 of answers": 1.0}}) == {}


def test_a_collection_tells_documents_apart() -> None:
    other = Document("e", TEXT)
    twin = tree(other, 13, 28, 45)
    question = Question("q", "e", "?", evidence=(evidence("dog", 15, other),))
    benchmark = Benchmark("own", "t", (DOCUMENT, other), (question,), "collection")
    found = [[*ranked(TREE, 1), *ranked(twin, 1)]]
    [values] = judge(benchmark, [TREE, twin], found, lambda texts: [300] * len(texts)).values()
    for rule in ("lowered", "folded", "span", "rouge"):
        assert (values[f"Recall@1 ({rule})"], values[f"Recall@2 ({rule})"]) == (0, 1)
    assert values["evidence recall in 500 tokens"] == 0
    assert values["evidence recall in 1000 tokens"] == 1
    assert values["character precision@5"] == 3 / 30


def test_only_the_first_twenty_count_and_budgets_go_on() -> None:
    document = Document("d", "ab " * 24)
    parents = tree(document, *range(3, 73, 3))
    question = Question("q", "d", "?", evidence=(Evidence("ab", (60, 62), "d"),))
    benchmark = Benchmark("own", "t", (document,), (question,))
    found = [ranked(parents, *range(24))]  # the relevant one by its span is at rank 21
    [values] = judge(benchmark, [parents], found, lambda texts: [24] * len(texts)).values()
    assert values["Recall@20 (span)"] == values["DCG@20 (span)"] == 0
    assert values["Recall@1 (folded)"] == 1
    twentieth = Question("q", "d", "?", evidence=(Evidence("ab", (57, 59), "d"),))
    benchmark = Benchmark("own", "t", (document,), (twentieth,))
    [last] = judge(benchmark, [parents], found, lambda texts: [24] * len(texts)).values()
    assert last["Recall@20 (span)"] == 1
    assert last["DCG@20 (span)"] == pytest.approx(1 / math.log2(21))
    assert values["evidence recall in 500 tokens"] == 0  # 20 parents
    assert values["evidence recall in 1000 tokens"] == 1  # all 24


def test_a_parent_with_a_window_is_read_and_charged_as_its_window() -> None:
    parents: tuple[Chunk, ...] = (
        chunk(DOCUMENT, 0, 13, window=(0, 28)),
        chunk(DOCUMENT, 13, 28, window=(0, 45)),
        chunk(DOCUMENT, 28, 45, window=(13, 45)),
    )
    small = Tree(DOCUMENT, parents)
    asked: list[list[str]] = []

    def count(texts: list[str]) -> list[int]:
        asked.append(texts)
        return [20 * len(text) for text in texts]

    benchmark = Benchmark("own", "t", (DOCUMENT,), (ask(evidence("dog", 15)),))
    [values] = judge(benchmark, [small], [ranked(small, 0, 2)], count).values()
    assert asked == [[TEXT[:28], TEXT[13:]]]
    # They cost 560 and 640; what both hold counts once of what is delivered, twice of what is paid.
    assert values["evidence recall in 500 tokens"] == 0
    assert values["evidence recall in 1000 tokens"] == 1
    assert values["evidence precision in 1000 tokens"] == 3 / 28
    assert values["evidence precision in 2000 tokens"] == 3 / 45
    assert values["character precision@5"] == 3 / 60
    # Which parent is relevant is asked of the parents themselves: parent 1 was not found.
    assert values["ceiling (span)"] == 1
    assert values["Recall@20 (span)"] == 0
