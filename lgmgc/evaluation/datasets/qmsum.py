"""QMSum: meetings in turns, with questions, the turns that answer them, and topics.

Source: Zhong et al., "QMSum" (NAACL 2021), and its repository Yale-LILY/QMSum.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lgmgc.document import Document
from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question, Span
from lgmgc.evaluation.datasets.rows import Row, file_or_only, read_rows
from lgmgc.evaluation.datasets.spans import joined, tiling
from lgmgc.evaluation.datasets.titles import counted

_SPLITS = {"train": "training", "val": "validation", "test": "test"}


def qmsum(data: Path) -> Benchmark:
    """Meetings of one split: specific questions with their turns, topics as gold segments.

    A document is the turns of a meeting, ``speaker: content``, one below the other. Topics need not
    tile a meeting: turns between two are part of the later one, and where two overlap, a segment
    ends where each does.

    Args:
        data: a file of meetings, such as val.jsonl, or a folder with one such file.

    Raises:
        UsageError: there is no such file.
        DocumentError: a row is malformed, or there is none.
    """
    path = file_or_only(data)
    split = path.stem
    documents: list[Document] = []
    questions: list[Question] = []
    boundaries: dict[str, tuple[Span, ...]] = {}
    units: dict[str, tuple[int, ...]] = {}
    for row in read_rows(path):
        name = f"{split}/{len(documents) + 1}"
        turns = [
            f"{turn.text('speaker', blank=True)}: {turn.text('content', blank=True).strip()}"
            for turn in row.rows("meeting_transcripts")
        ]
        text, ends = joined(turns, "\n")
        documents.append(Document(name, text))
        units[name] = ends
        topics = (
            ends[last] for topic in row.rows("topic_list") for _, last in _turns(topic, len(turns))
        )
        boundaries[name] = tiling(topics, len(text))
        questions += _questions(row, documents[-1], ends)
    if not documents:
        raise DocumentError(f"{path}: holds no meeting; give the file as published")
    of = f"QMSum, {_SPLITS[split]} split" if split in _SPLITS else f"QMSum's layout, {path.name}"
    return Benchmark(
        "qmsum",
        f"{of}: {counted(len(documents), 'meeting')}, {counted(len(questions), 'question')}",
        tuple(documents),
        tuple(questions),
        boundaries=boundaries,
        units=units,
    )


def _questions(row: Row, meeting: Document, ends: tuple[int, ...]) -> Iterator[Question]:
    starts = (0, *ends)
    for number, query in enumerate(row.rows("specific_query_list"), 1):
        spans = [(starts[a], ends[b]) for a, b in _turns(query, len(ends))]
        yield Question(
            f"{meeting.id}/{number}",
            meeting.id,
            query.text("query"),
            (query.text("answer"),),
            tuple(_evidence(meeting, start, end) for start, end in spans),
        )


def _evidence(meeting: Document, start: int, end: int) -> Evidence:
    """Turns without the line break behind the last of them."""
    end -= meeting.text[start:end].endswith("\n")
    return Evidence(meeting.text[start:end], (start, end), meeting.id)


def _turns(row: Row, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of turns, the last one included."""
    for first, last in row.pairs("relevant_text_span"):
        if not first <= last < count:
            raise row.fault(
                f"needs rising ranges of turns below {count} in the field 'relevant_text_span'"
            )
        yield first, last
