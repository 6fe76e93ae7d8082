import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.document import Chunk, Document, Heading, Tree
from lgmgc.errors import DocumentError
from lgmgc.files.rows import COLUMNS, SCHEMA, metadata_json, nested, rows


def one_row(text: str, score: float | None = None) -> bytes:
    document = Document("a", text)
    [row] = rows(Tree(document, (Chunk(document, "f00d", 0, 0, len(text), 1, score),)))
    return row


def test_rows() -> None:
    pages, headings = (0, 8), (Heading(6, 1, "Zwei"),)
    document = Document("d.txt", "Eins. Zwei. Drei.", {"year": 1901}, pages, headings)
    small = Chunk(document, "c2", 2, 0, 6, 1)
    half = Chunk(document, "c1", 1, 0, 6, 1)
    first = Chunk(document, "p1", 0, 0, 12, 2, -1.23456, (half, small))
    second = Chunk(document, "p2", 0, 12, 17, 1)
    read = [json.loads(row) for row in rows(Tree(document, (first, second)))]
    assert [list(row) for row in read] == [list(COLUMNS)] * 4
    year = {"year": 1901}
    assert [tuple(row.values()) for row in read] == [
        ("p1", "d.txt", None, 0, 0, 12, 2, -1.2346, None, None, [1, 2], [], year, "Eins. Zwei. "),
        ("c1", "d.txt", "p1", 1, 0, 6, 1, None, None, None, [1, 1], [], year, "Eins. "),
        ("c2", "d.txt", "p1", 2, 0, 6, 1, None, None, None, [1, 1], [], year, "Eins. "),
        ("p2", "d.txt", None, 0, 12, 17, 1, None, None, None, [2, 2], ["Zwei"], year, "Drei."),
    ]


def test_what_a_document_has_not_is_null() -> None:
    row = json.loads(one_row("x"))
    assert (row["pages"], row["headings"], row["metadata"]) == (None, [], None)


@pytest.mark.parametrize(
    "metadata", [{"x": math.nan}, {"x": "\ud800"}, {"x": object()}, {"x": {1: {(): 2}}}]
)
def test_metadata_that_json_cannot_say(metadata: dict[str, Any]) -> None:
    document = Document("a.jsonl#3", "Secret.", metadata)
    with pytest.raises(DocumentError, match=r"^a.jsonl#3: has metadata that JSON cannot say"):
        metadata_json(document)
    with pytest.raises(DocumentError):
        next(rows(Tree(document, (Chunk(document, "p", 0, 0, 7, 1),))))


def test_nested() -> None:
    document = Document("d.txt", "Eins. Zwei.", {"year": 1901})
    child = Chunk(document, "c", 1, 0, 6, 1)
    parents = (Chunk(document, "p", 0, 0, 6, 1, None, (child,)), Chunk(document, "q", 0, 6, 11, 1))
    given = [json.loads(row) for row in rows(Tree(document, parents))]
    whole = nested("d.txt", given)
    assert (whole["document"], whole["metadata"]) == ("d.txt", {"year": 1901})
    assert [parent["id"] for parent in whole["parents"]] == ["p", "q"]
    assert [each["id"] for each in whole["parents"][0]["children"]] == ["c"]
    inner = set(COLUMNS) - {"document", "metadata", "parent"}
    assert set(whole["parents"][0]) == inner | {"children"}
    assert set(whole["parents"][0]["children"][0]) == inner


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_row_is_one_line_for_everybody_and_keeps_the_text(text: str) -> None:
    row = one_row(text)
    assert row.endswith(b"\n")
    assert len(row.decode().splitlines()) == 1
    assert json.loads(row)["text"] == text


def test_text_is_readable_where_it_can_be() -> None:
    assert '"text": "é 今 \\u2028\\u2029\\u0085"' in one_row("é 今 \u2028\u2029\u0085").decode()


@pytest.mark.parametrize(
    ("score", "written"),
    [
        (-0.00001, b'"score": 0.0,'),
        (-3.5, b'"score": -3.5,'),
        (-math.inf, b'"score": null,'),
        (math.nan, b'"score": null,'),
        (None, b'"score": null,'),
    ],
)
def test_scores(score: float | None, written: bytes) -> None:
    assert written in one_row("x", score)


def test_the_documentation_has_every_column_and_its_meaning() -> None:
    page = (Path(__file__).parents[2] / "docs/output.md").read_text(encoding="utf-8")
    assert f"Schema {SCHEMA};" in page
    for name, meaning in COLUMNS.items():
        assert f"| `{name}` | {meaning} |" in page
