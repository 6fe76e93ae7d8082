"""LongBench's questions about single documents: answers, and no evidence.

Source: Bai et al., "LongBench" (arXiv 2308.14508); on Hugging Face THUDM/LongBench.
"""

from __future__ import annotations

from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Benchmark, Question
from lgmgc.evaluation.datasets.rows import file_or_only, read_rows
from lgmgc.evaluation.datasets.titles import counted

_SETS = ("narrativeqa", "qasper", "multifieldqa_en", "multifieldqa_zh")


def longbench(data: Path) -> Benchmark:
    """Rows of LongBench; those with the same context ask about the same document.

    Args:
        data: a file of rows, such as qasper.jsonl, or a folder with one such file.

    Raises:
        UsageError: there is no such file.
        DocumentError: a row is malformed, or of another data set or language than the rows above
            it, or there is none.
    """
    path = file_or_only(data)
    documents: dict[str, Document] = {}  # by context
    questions: dict[str, Question] = {}
    kind: tuple[str, str] | None = None
    for row in read_rows(path):
        this = row.text("dataset"), row.text("language")
        kind = kind or this
        if this != kind:
            raise row.fault("needs the data set and the language of the rows above it")
        context = row.text("context")
        if context not in documents:
            documents[context] = Document(f"{kind[0]}/{len(documents) + 1}", context)
        name = row.text("_id")
        if name in questions:
            raise row.fault("needs another '_id' than the rows above it")
        questions[name] = Question(
            name, documents[context].id, row.text("input"), row.texts("answers")
        )
    if kind is None:
        raise DocumentError(f"{path}: holds no row; give the file as published")
    return Benchmark(
        "longbench",
        f"{_title(path, kind[0])}: {counted(len(documents), 'document')}, "
        f"{counted(len(questions), 'question')}",
        tuple(documents.values()),
        tuple(questions.values()),
        language=kind[1],
    )


def _title(path: Path, dataset: str) -> str:
    """What the rows are; only LongBench's own sets are called so.

    >>> _title(Path("qasper_e.jsonl"), "qasper")
    'LongBench-E qasper'
    """
    if dataset == "leval_scientific_qa":  # these papers, but not LongBench's choice of them
        return "L-Eval scientific_qa (QASPER documents)"
    if dataset not in _SETS:
        return f"{dataset}, in LongBench's layout"
    return f"LongBench{'-E' if path.stem == dataset + '_e' else ''} {dataset}"
