#!/usr/bin/env python3
"""Chunks as SQL for PostgreSQL with pgvector: pieces with their parent, and the query for the best parents.

Usage: scripts/recipes/into_pgvector.py CHUNKS.jsonl | psql DATABASE
       scripts/recipes/into_pgvector.py CHUNKS.jsonl QUESTION | psql DATABASE      (only the query)
Needs: pip install lgmgc. It writes text and connects to nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from lgmgc.lm.embedder import Embedder, load_embedder

COLUMNS = ("id", "document", "parent", "level", "start_at", "end_at", "text", "embedding")


def literal(value: str | int) -> str:
    """Write a value as SQL does where standard_conforming_strings is on: backslashes mean nothing.

    Raises:
        ValueError: PostgreSQL holds no text with U+0000.

    >>> literal("it's"), literal(3)
    ("'it''s'", '3')
    """
    if isinstance(value, int):
        return str(value)
    if "\0" in value:
        raise ValueError("U+0000 is in a text, which PostgreSQL cannot hold; take it out first")
    return "'" + value.replace("'", "''") + "'"


def schema(dimensions: int) -> Iterator[str]:
    """Make the table."""
    yield "SET standard_conforming_strings = on;"
    yield "CREATE EXTENSION IF NOT EXISTS vector;"
    yield (
        "CREATE TABLE pieces (id text PRIMARY KEY, document text NOT NULL, parent text NOT NULL, level integer "
        f"NOT NULL, start_at bigint NOT NULL, end_at bigint NOT NULL, text text NOT NULL, embedding vector({dimensions}));"
    )


def inserts(chunks: Path, embedder: Embedder) -> Iterator[str]:
    """Fill it, in one transaction; 256 rows are in memory at once."""
    yield "BEGIN;"
    with chunks.open(encoding="utf-8", newline="\n") as file:
        while rows := [json.loads(line) for line in islice(file, 256)]:
            # A parent is a piece of itself. What a model wrote of a piece stands for it (`view`).
            vectors = embedder.passages([row["view"] or row["text"] for row in rows])
            for row, vector in zip(rows, vectors, strict=True):
                place = (row["level"], row["start"], row["end"])
                values = (
                    row["id"],
                    row["document"],
                    row["parent"] or row["id"],
                    *place,
                    row["text"],
                )
                written = ", ".join(map(literal, (*values, json.dumps(vector.tolist()))))
                yield f"INSERT INTO pieces ({', '.join(COLUMNS)}) VALUES ({written});"
    yield "COMMIT;"


def query(question: str, k: int, embedder: Embedder) -> str:
    """The k best parents, each with its score: the maximum over itself and its children."""
    [vector] = embedder.queries([question])
    nearest = literal(json.dumps(vector.tolist()))
    return (
        f"SELECT best.score, p.document, p.start_at, p.end_at, p.text FROM (SELECT parent, max(1 - (embedding <=> {nearest})) "
        f"AS score FROM pieces GROUP BY parent ORDER BY score DESC, parent LIMIT {k:d}) AS best "
        "JOIN pieces AS p ON p.id = best.parent ORDER BY best.score DESC, p.id;"
    )


if __name__ == "__main__":
    embedder = load_embedder()
    if len(sys.argv) > 2:
        print(query(sys.argv[2], 3, embedder))
    else:
        for statement in chain(schema(embedder.dimensions), inserts(Path(sys.argv[1]), embedder)):
            print(statement)
