"""What users bring: a folder of documents, and a file of questions about them."""

from __future__ import annotations

from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question
from lgmgc.evaluation.datasets.rows import Row, file_in, read_rows
from lgmgc.evaluation.datasets.spans import occurs_once
from lgmgc.evaluation.datasets.texts import read_texts
from lgmgc.evaluation.datasets.titles import counted


def own(data: Path, language: str = "en") -> Benchmark:
    """The .txt and .md files of a folder and below it, and its questions.jsonl.

    A row has ``document``, the path below the folder, and ``question``; it may have ``id``,
    ``answers`` (a list) and ``evidence``: a text, an object with ``text``, or with ``start`` and
    ``end`` in code points, or both, or a list of these. A text without offsets gets its span where
    it stands at exactly one place of the document, letter for letter; where it stands at several,
    only offsets can say which is meant.

    Args:
        data: the folder.
        language: what the documents are in, which decides how answers are compared.

    Raises:
        UsageError: a file is missing.
        DocumentError: a document cannot be read, or a row is malformed.
    """
    path = file_in(data, "questions.jsonl")
    documents = {document.id: document for document in read_texts(data)}
    questions: dict[str, Question] = {}
    for number, row in enumerate(read_rows(path), 1):
        question = _question(row, number, documents)
        if question.id in questions:
            raise row.fault("needs another 'id' than the rows above it")
        questions[question.id] = question
    if not questions:
        raise DocumentError(f"{path}: holds no question; write one a line")
    return Benchmark(
        "own",
        f"{data.resolve().name}: {counted(len(documents), 'document')}, "
        f"{counted(len(questions), 'question')}",
        tuple(documents.values()),
        tuple(questions.values()),
        language=language,
    )


def _question(row: Row, number: int, documents: dict[str, Document]) -> Question:
    document = documents.get(row.text("document"))
    if document is None:
        raise row.fault("needs a 'document' that is the path of one below the folder, like a/b.txt")
    return Question(
        row.text("id") if row.has("id") else str(number),
        document.id,
        row.text("question"),
        row.texts("answers") if row.has("answers") else (),
        tuple(_evidence(piece, document) for piece in _pieces(row)),
    )


def _pieces(row: Row) -> list[Row]:
    """The evidence in whichever form, as a list of objects."""
    given = row.fields.get("evidence")
    if given is None:
        return []
    pieces = given if isinstance(given, list) else [given]
    objects = [{"text": piece} if isinstance(piece, str) else piece for piece in pieces]
    return Row(row.where, {"evidence": objects}).rows("evidence")


def _evidence(piece: Row, document: Document) -> Evidence:
    if not (piece.has("start") or piece.has("end")):
        text = piece.text("text")
        return Evidence(text, occurs_once(document.text, text), document.id)
    start, end = piece.whole("start"), piece.whole("end")
    if not start < end <= len(document.text):
        raise piece.fault(f"needs a start before its end, and an end up to {len(document.text)}")
    text = document.text[start:end]
    if piece.has("text") and piece.text("text") != text:
        raise piece.fault(f"needs the text that stands in {document.id} from its start to its end")
    return Evidence(text, (start, end), document.id)
