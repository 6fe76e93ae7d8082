"""A benchmark by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.datasets.boundaries import boundaries
from lgmgc.evaluation.datasets.choi import choi
from lgmgc.evaluation.datasets.chroma import chroma
from lgmgc.evaluation.datasets.gutenqa import chapters, gutenqa
from lgmgc.evaluation.datasets.longbench import longbench
from lgmgc.evaluation.datasets.own import own
from lgmgc.evaluation.datasets.qmsum import qmsum
from lgmgc.evaluation.datasets.titles import counted


@dataclass(frozen=True, slots=True)
class Known:
    """A benchmark that can be loaded.

    Attributes:
        description: what it is, in one line.
        layout: the files that are expected, in one line.
        load: from the path of the data, and options.
        options: which it takes.
    """

    description: str
    layout: str
    load: Callable[..., Benchmark]
    options: tuple[str, ...] = ()


BENCHMARKS: Mapping[str, Known] = {
    "gutenqa": Known(
        "GutenQA: books, each question with a string that the chunk must contain",
        "a folder with GutenQA_paragraphs.parquet and questions.parquet, "
        "or paragraphs.jsonl and questions.jsonl",
        gutenqa,
        ("books",),
    ),
    "chapters": Known(
        "chapters of GutenQA's books as gold segments",
        "a folder with GutenQA_paragraphs.parquet or paragraphs.jsonl",
        chapters,
        ("books",),
    ),
    "longbench": Known(
        "LongBench's narrativeqa, qasper, multifieldqa_en or multifieldqa_zh: answers, no evidence",
        "one .jsonl file with input, context, answers, dataset, language and _id",
        longbench,
    ),
    "chroma": Known(
        "Chroma's chunking evaluation: questions to a collection, with the spans that answer them",
        "a folder with questions_df.csv or questions.csv, and the corpora as .md in it or in "
        "its folder corpora",
        chroma,
    ),
    "qmsum": Known(
        "QMSum: meetings with questions, the turns that answer them, and topics as gold segments",
        "one .jsonl file with meeting_transcripts, topic_list and specific_query_list",
        qmsum,
    ),
    "choi": Known(
        "Choi: excerpts of the Brown corpus put together, as gold segments",
        "a folder with .ref files in it or below it",
        choi,
    ),
    "boundaries": Known(
        "gold segments of your own",
        "one .jsonl file with id, text, boundaries (offsets) and, if you like, units (offsets)",
        boundaries,
        ("language",),
    ),
    "own": Known(
        "documents and questions of your own",
        "a folder with .txt or .md files, and questions.jsonl with document, question and, if "
        "you like, id, answers and evidence (text, or start and end)",
        own,
        ("language",),
    ),
}
"""By the name on the command line."""


def load_benchmark(
    name: str,
    data: Path,
    *,
    limit: int | None = None,
    books: Sequence[str] | None = None,
    language: str | None = None,
) -> Benchmark:
    """Read a benchmark.

    Args:
        name: one of `BENCHMARKS`.
        data: the file or folder, see `Known.layout`.
        limit: how many questions to keep, the first ones; documents where nothing is asked. A
            collection keeps all its documents, else those stay that a kept question asks about.
        books: which books of gutenqa and chapters; None for all.
        language: of boundaries and own, whose files do not say it; None for ``en``.

    Raises:
        UsageError: there is no such benchmark, option or file.
        DocumentError: a file or a row of it is malformed; it is named.
    """
    known = BENCHMARKS.get(name)
    if known is None:
        raise UsageError(f"no benchmark is called {name!r}; there are {', '.join(BENCHMARKS)}")
    options = {"books": books, "language": language}
    given = {option: value for option, value in options.items() if value is not None}
    if foreign := sorted(given.keys() - known.options):
        raise UsageError(f"the benchmark {name} has no {foreign[0]} to choose; leave that out")
    if limit is not None and limit < 1:
        raise UsageError(f"a limit of {limit} leaves nothing of {name}; give 1 or more")
    if not data.exists():
        raise UsageError(f"{data}: no such file or folder; {name} is read from {known.layout}")
    benchmark = known.load(data, **given)
    return benchmark if limit is None else _first(benchmark, limit)


def _first(benchmark: Benchmark, limit: int) -> Benchmark:
    if limit >= len(benchmark.questions or benchmark.documents):
        return benchmark
    questions = benchmark.questions[:limit]
    documents = benchmark.documents
    if not questions:
        documents = documents[:limit]
    elif benchmark.scope == "document":
        asked = {question.document for question in questions}
        documents = tuple(document for document in documents if document.id in asked)
    names = {document.id for document in documents}
    kept = counted(limit, "question" if questions else "document")
    return replace(
        benchmark,
        title=f"{benchmark.title}; the first {kept}",
        documents=documents,
        questions=questions,
        boundaries={key: value for key, value in benchmark.boundaries.items() if key in names},
        units={key: value for key, value in benchmark.units.items() if key in names},
    )
