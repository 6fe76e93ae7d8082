"""What a benchmark is: documents, questions with their evidence, gold boundaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lgmgc.document import Document

Span = tuple[int, int]
Scope = Literal["document", "collection"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a chunk must hold to answer a question.

    Attributes:
        text: as the benchmark gives it; it need not occur in the document letter for letter.
        span: where it stands, ``[start, end)`` in code points, if the benchmark says so; None:
            only the text is known.
        document: the id of the document that ``span`` is in.
    """

    text: str
    span: Span | None = None
    document: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a document, or about a collection.

    Attributes:
        id: unique in its benchmark.
        document: the id of the document it is asked of; in the scope "collection" the evidence says
            where the answer stands, and this is where the first evidence is.
        text: the question.
        answers: right answers, any of which will do; empty where the benchmark has none.
        evidence: all of it; empty where the benchmark has answers only.
    """

    id: str
    document: str
    text: str
    answers: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Documents and what is asked of them.

    Attributes:
        name: as on the command line.
        title: what the data is, in one line, for tables ("Emma, 1 of GutenQA's 100 books").
        documents: in the order of the source.
        questions: in the order of the source; may be empty.
        scope: whether a question searches its own document or all of them.
        boundaries: the spans of gold segments by document id; they tile the text. May be empty.
        units: where gold boundaries may lie, by document id: the end of every unit (sentence,
            paragraph, turn), rising; the last is the text's length. There where ``boundaries`` is.
        language: ``en``, ``zh`` …, which decides how answers are compared.
        chunkings: chunks made by others and published with the data, as texts, by name.
    """

    name: str
    title: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...] = ()
    scope: Scope = "document"
    boundaries: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    units: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    language: str = "en"
    chunkings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
