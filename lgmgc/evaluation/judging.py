"""What a ranking of parents is worth to each question, by every measure of retrieval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from lgmgc.document import Chunk, Tree
from lgmgc.evaluation.benchmark import Benchmark, Question
from lgmgc.evaluation.measures.budget import BUDGETS, deliver
from lgmgc.evaluation.measures.characters import Place, overlap, precision_omega
from lgmgc.evaluation.measures.ranking import DEPTHS, ranking_measures
from lgmgc.evaluation.measures.relevance import Chunking, Rule
from lgmgc.evaluation.searching import Found, read_span

RULES: tuple[Rule, ...] = ("lowered", "folded", "span", "rouge")
CHARACTERS_K = 5
"""Parents that are compared character by character, as in Chroma's report."""

Count = Callable[[list[str]], list[int]]


def by_rule(rule: str, measure: str) -> str:
    """How a measure by a rule of relevance is called."""
    return f"{measure} ({rule})"


def main_measure(rule: str) -> str:
    """The measure that tables and plots put first."""
    return by_rule(rule, f"DCG@{DEPTHS[-1]}")


def recall_within(budget: int) -> str:
    """How the share of the evidence within a budget is called."""
    return f"evidence recall in {budget} tokens"


def judge(
    benchmark: Benchmark, trees: Sequence[Tree], found: Sequence[Sequence[Found]], count: Count
) -> dict[str, dict[str, float]]:
    """Measure what every question found.

    A question may have several pieces of evidence: DCG and Recall are taken of each, and averaged.
    They ask which parents are found; budgets and characters are of what a reader is then given,
    which is a parent's window where it has one.

    Args:
        benchmark: with questions; those without evidence are left out.
        trees: of its documents, in their order.
        found: for each question, parents, best first.
        count: the tokens of texts, for budgets.

    Returns:
        The measures by the question's id.
    """
    asked = [
        (question, some)
        for question, some in zip(benchmark.questions, found, strict=True)
        if question.evidence
    ]
    values: dict[str, dict[str, float]] = {question.id: {} for question, _ in asked}
    chunkings = {
        tree.document.id: Chunking.of(
            tree.document.text, [(parent.start, parent.end) for parent in tree.parents]
        )
        for tree in trees
    }
    for rule in RULES:
        _rank(asked, chunkings, rule, values)
    chunks = [_place(parent) for tree in trees for parent in tree.parents]
    tokens = _tokens([some for _, some in asked], count)
    for question, some in asked:
        if evidence := _places(question):
            values[question.id] |= _within(some, evidence, tokens)
            values[question.id]["precision omega"] = precision_omega(chunks, evidence)
    return values


def ceilings(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The share of the evidence that any chunk satisfies, by rule: the most that Recall can be."""
    names = {rule: by_rule(rule, "ceiling") for rule in RULES}
    return {
        rule: fmean(each[name] for each in values.values() if name in each)
        for rule, name in names.items()
        if any(name in each for each in values.values())
    }


def _rank(
    asked: Sequence[tuple[Question, Sequence[Found]]],
    chunkings: Mapping[str, Chunking],
    rule: Rule,
    values: Mapping[str, dict[str, float]],
) -> None:
    """Add DCG, Recall and the ceiling by one rule, for the questions that it can judge."""
    rankings, relevant, owners = [], [], []
    for question, some in asked:
        evidence = [each for each in question.evidence if rule != "span" or each.span is not None]
        for each in evidence:
            document = each.document or question.document
            place = chunkings[document].relevant(each, rule)
            rankings.append([(one.parent.document.id, one.place) for one in some[: DEPTHS[-1]]])
            relevant.append([] if place is None else [(document, place)])
            owners.append(question.id)
    measured = ranking_measures(rankings, relevant)
    for owner in dict.fromkeys(owners):
        own = [k for k, each in enumerate(owners) if each == owner]
        values[owner][by_rule(rule, "ceiling")] = fmean(bool(relevant[k]) for k in own)
        for name in measured[own[0]]:
            values[owner][by_rule(rule, name)] = fmean(measured[k][name] for k in own)


def _within(
    found: Sequence[Found], evidence: Sequence[Place], tokens: Mapping[str, int]
) -> dict[str, float]:
    """What is delivered at equal cost, and how closely the first parents fit."""
    ranked = [_place(each.parent) for each in found]
    costs = [tokens[each.parent.id] for each in found]
    values = {}
    for budget in BUDGETS:
        delivery = deliver(ranked, costs, evidence, budget)
        values[recall_within(budget)] = delivery.recall
        values[f"evidence precision in {budget} tokens"] = delivery.precision
    characters = overlap(ranked[:CHARACTERS_K], evidence)
    for name, value in characters._asdict().items():
        values[f"character {name}@{CHARACTERS_K}"] = value
    return values


def _tokens(found: Sequence[Sequence[Found]], count: Count) -> dict[str, int]:
    """The tokens of what is given of every parent that was found, by its id."""
    parents = {each.parent.id: each.parent for some in found for each in some}
    texts = {key: p.document.text[slice(*read_span(p))] for key, p in parents.items()}
    return dict(zip(texts, count(list(texts.values())), strict=True))


def _places(question: Question) -> list[Place]:
    return [
        (each.document or question.document, *each.span)
        for each in question.evidence
        if each.span is not None
    ]


def _place(chunk: Chunk) -> Place:
    return chunk.document.id, *read_span(chunk)
