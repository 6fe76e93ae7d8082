"""Chroma's chunking evaluation: questions to a collection, with the spans that answer them.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024), and its
repository brandonstarxel/chunking_evaluation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question
from lgmgc.evaluation.datasets.rows import Row, file_in, json_list, read_rows
from lgmgc.evaluation.datasets.texts import read_texts

CORPORA, QUESTIONS = 5, 472
"""How many Chroma's evaluation has."""


def chroma(data: Path) -> Benchmark:
    """Corpora that are searched together, and questions with references.

    A corpus that a question names and that is not there is left out together with its questions;
    the title says how many.

    Args:
        data: a folder with questions_df.csv or questions.csv, and the corpora as NAME.md in it or
            in its folder "corpora".

    Raises:
        UsageError: a file is missing, or every corpus is.
        DocumentError: a row is malformed, or a reference is not what stands at its span.
    """
    path = file_in(data, "questions_df.csv", "questions.csv")
    files = {
        file.stem: file
        for folder in (data / "corpora", data)
        for file in sorted(folder.glob("*.md"))
    }
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    left_out = 0
    for row in read_rows(path):
        corpus = row.text("corpus_id")
        if corpus not in files:
            left_out += 1
            continue
        if corpus not in documents:
            documents[corpus] = _corpus(corpus, files[corpus])
        counts[corpus] += 1
        evidence = tuple(
            _evidence(each, documents[corpus]) for each in json_list(row, "references")
        )
        if not evidence:
            raise row.fault("needs a reference in the field 'references'")
        name = f"{corpus}/{counts[corpus]}"
        questions.append(Question(name, corpus, row.text("question"), evidence=evidence))
    if not questions:
        raise UsageError(f"{data}: holds no corpus that {path.name} asks about; put NAME.md there")
    title = (
        f"Chroma's chunking evaluation: {len(documents)} of {CORPORA} corpora, "
        f"{len(questions)} of {QUESTIONS} questions"
    )
    if left_out:
        title += f" ({left_out} left out, their corpora being absent)"
    return Benchmark(
        "chroma", title, tuple(documents.values()), tuple(questions), scope="collection"
    )


def _corpus(name: str, path: Path) -> Document:
    """A corpus with line ends as they are, so that offsets keep their meaning."""
    return replace(next(read_texts(path)), id=name)


def _evidence(reference: Row, corpus: Document) -> Evidence:
    content = reference.text("content")
    start, end = reference.whole("start_index"), reference.whole("end_index")
    if corpus.text[start:end] != content:
        raise reference.fault(
            f"needs the text that stands in {corpus.id}.md from its start_index to its end_index"
        )
    return Evidence(content, (start, end), corpus.id)
