"""GutenQA: books of Project Gutenberg in paragraphs, and questions with a string to be found.

Source: Duarte et al., "LumberChunker" (arXiv 2406.17526); on Hugging Face LumberChunker/GutenQA and
LumberChunker/GutenQA_Paragraphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question
from lgmgc.evaluation.datasets.rows import Row, file_in, read_rows
from lgmgc.evaluation.datasets.spans import joined, occurs_once, tiling

BOOKS = 100
"""How many books GutenQA has."""


def gutenqa(data: Path, books: Sequence[str] = ()) -> Benchmark:
    """Books with their questions, chapters and the chunks that others made of them.

    A document is a book's paragraphs with a blank line between two. The evidence of a question is
    the string that the chunk must contain, as published; its span is known where the string stands
    at exactly one place of the book, letter for letter. Chunks of others, ``chunks_NAME.jsonl``, do
    not say their book, so they are read where there is one book only.

    Args:
        data: a folder with GutenQA_paragraphs.parquet or paragraphs.jsonl, and questions.parquet or
            questions.jsonl.
        books: names of the books to take, as in the column "Book Name"; all where empty.

    Raises:
        UsageError: a file is missing, or no book has one of the names.
        DocumentError: a row is malformed, or asks about a book that has no paragraphs.
    """
    segmented = chapters(data, books)
    texts = {document.id: document.text for document in segmented.documents}
    chunkings = {}
    if len(texts) == 1:
        chunkings = {
            path.stem.removeprefix("chunks_"): tuple(
                row.text("Chunk", blank=True) for row in read_rows(path)
            )
            for path in sorted(data.glob("chunks_*.jsonl"))
        }
    return Benchmark(
        "gutenqa",
        _title(list(texts)),
        segmented.documents,
        tuple(_questions(data, texts, books)),
        boundaries=segmented.boundaries,
        units=segmented.units,
        chunkings=chunkings,
    )


def chapters(data: Path, books: Sequence[str] = ()) -> Benchmark:
    """Books with chapters as gold segments and paragraphs as units; nothing is asked.

    Args and what is raised: as `gutenqa`; the file of questions is not read.
    """
    found = _read(data, books)
    return Benchmark(
        "chapters",
        f"chapters of {_title([book.document.id for book in found])}",
        tuple(book.document for book in found),
        boundaries={
            book.document.id: tiling(book.chapters, len(book.document.text)) for book in found
        },
        units={book.document.id: book.paragraphs for book in found},
    )


@dataclass(frozen=True, slots=True)
class _Book:
    document: Document
    paragraphs: tuple[int, ...]  # where they end
    chapters: tuple[int, ...]


def _read(data: Path, books: Sequence[str]) -> list[_Book]:
    path = file_in(data, "GutenQA_paragraphs.parquet", "paragraphs.jsonl")
    rows: dict[str, list[tuple[str, str]]] = {}
    for row in read_rows(path):
        name = row.text("Book Name")
        if not books or name in books:
            paragraph = row.text("Chapter", blank=True), row.text("Chunk", blank=True)
            rows.setdefault(name, []).append(paragraph)
    if missing := [name for name in books if name not in rows]:
        raise UsageError(
            f"{path}: no book is called {missing[0]!r}; give names as in the column 'Book Name'"
        )
    if not rows:
        raise UsageError(f"{path}: holds no paragraph; give the file as published")
    return [_book(name, paragraphs) for name, paragraphs in rows.items()]


def _book(name: str, paragraphs: Sequence[tuple[str, str]]) -> _Book:
    text, ends = joined([paragraph for _, paragraph in paragraphs], "\n\n")
    pairs = zip(ends, pairwise(chapter for chapter, _ in paragraphs), strict=False)
    changes = [end for end, (this, following) in pairs if this != following]
    # Paragraphs without text may end where the one before them does, or at 0.
    return _Book(Document(name, text), tuple(sorted({*ends} - {0})), tuple(changes))


def _questions(data: Path, texts: dict[str, str], books: Sequence[str]) -> Iterator[Question]:
    counts: Counter[str] = Counter()
    for row in read_rows(file_in(data, "questions.parquet", "questions.jsonl")):
        book = _book_of(row, texts)
        if book not in texts:
            if books:
                continue
            raise row.fault(f"asks about the book {book!r}, which needs to be among the paragraphs")
        counts[book] += 1
        evidence = row.text("Chunk Must Contain")
        yield Question(
            f"{book}/{counts[book]}",
            book,
            row.text("Question"),
            (row.text("Answer"),),
            (Evidence(evidence, occurs_once(texts[book], evidence), book),),
        )


def _book_of(row: Row, texts: dict[str, str]) -> str:
    """The book a question names; the files of a single book leave it out."""
    return row.text("Book Name") if row.has("Book Name") or len(texts) > 1 else next(iter(texts))


def _title(names: Sequence[str]) -> str:
    """A title that says how much of GutenQA it is.

    >>> _title(["Emma_-_Jane_Austen"]), _title(["a", "b"])
    ("Emma - Jane Austen, 1 of GutenQA's 100 books", "2 of GutenQA's 100 books")
    """
    if len(names) == 1:
        return f"{names[0].replace('_', ' ')}, 1 of GutenQA's {BOOKS} books"
    return f"{len(names)} of GutenQA's {BOOKS} books" if len(names) < BOOKS else "GutenQA"
