"""Answers of a local reader from what was found, in as few words as a token-bag F1 asks for."""

from __future__ import annotations

from collections.abc import Sequence

from lgmgc.document import Document
from lgmgc.evaluation.benchmark import Benchmark, Question
from lgmgc.evaluation.experiment import Context
from lgmgc.evaluation.remembered import RememberedWriter
from lgmgc.evaluation.searching import Found, read_span
from lgmgc.retrieval.passages import Source, fit, layout

MOST = 48
"""Tokens of an answer."""

SYSTEM = """\
You answer questions from numbered passages, in as few words as possible.
Write the answer alone: no sentence around it, no explanation.
If the passages do not hold the answer, write: unanswerable"""

CLOSED_BOOK = """\
You answer questions in as few words as possible.
Write the answer alone: no sentence around it, no explanation.
If you do not know, write: unanswerable"""


def answer_all(
    benchmark: Benchmark,
    found: Sequence[Sequence[Found]],
    writer: RememberedWriter,
    context: Context,
    k: int,
) -> list[str]:
    """Let a reader answer every question.

    Args:
        benchmark: with questions.
        found: for each question, parents, best first; not read unless the context is ``parents``.
        writer: the reader.
        context: what it is given.
        k: parents at most, as far as they fit.

    Returns:
        An answer to each question.
    """
    return [
        _answer(question, _sources(benchmark, question, some, context, k), writer)
        for question, some in zip(benchmark.questions, found, strict=True)
    ]


def _sources(
    benchmark: Benchmark, question: Question, found: Sequence[Found], context: Context, k: int
) -> list[Source]:
    if context == "closed":
        return []
    if context == "whole":
        [whole] = [d for d in benchmark.documents if d.id == question.document]
        return [_source(1, whole, 0, len(whole.text), 0.0)]
    return [
        _source(rank, each.parent.document, *read_span(each.parent), each.score)
        for rank, each in enumerate(found[:k], start=1)
    ]


def _source(rank: int, document: Document, start: int, end: int, score: float) -> Source:
    return Source(rank, document.id, start, end, score, document.text[start:end])


def _answer(question: Question, sources: Sequence[Source], writer: RememberedWriter) -> str:
    def prompt(some: Sequence[Source]) -> tuple[str, str]:
        if not sources:
            return f"Question: {question.text}\nAnswer:", CLOSED_BOOK
        return f"{layout(some)}\n\nQuestion: {question.text}\nAnswer:", SYSTEM

    room = writer.context - MOST
    given = fit(sources, lambda some: writer.prompt_length(*prompt(some)) <= room)
    instruction, system = prompt(given)
    return writer.write(instruction, MOST, system=system).strip()
