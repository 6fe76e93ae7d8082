#!/usr/bin/env python3
"""Chunks into LanceDB: pieces with their parent, and the parents whose best piece is nearest to a question.

Usage: scripts/recipes/into_lancedb.py CHUNKS.jsonl FOLDER QUESTION
Needs: pip install lgmgc lancedb. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa

from lgmgc.lm.embedder import Embedder, load_embedder

COLUMNS = ("id", "document", "level", "start", "end", "text")


def store(chunks: Path, folder: Path, embedder: Embedder) -> Any:
    """Make the table; 256 rows are in memory at once."""
    texts = [
        (name, pa.int64() if name in ("level", "start", "end") else pa.string()) for name in COLUMNS
    ]
    vector = pa.list_(pa.float32(), embedder.dimensions)
    schema = pa.schema([*texts, ("parent", pa.string()), ("vector", vector)])

    def batches() -> Iterator[pa.RecordBatch]:
        with chunks.open(encoding="utf-8", newline="\n") as file:
            while rows := [json.loads(line) for line in islice(file, 256)]:
                # A parent is a piece of itself. What a model wrote of a piece stands for it (`view`).
                vectors = embedder.passages([row["view"] or row["text"] for row in rows])
                pieces = [
                    {
                        **{name: row[name] for name in COLUMNS},
                        "parent": row["parent"] or row["id"],
                        "vector": vector,
                    }
                    for row, vector in zip(rows, vectors, strict=True)
                ]
                yield from pa.Table.from_pylist(pieces, schema).to_batches()

    return lancedb.connect(folder).create_table(
        "pieces", batches(), schema=schema, mode="overwrite"
    )


def search(
    table: Any, question: str, k: int, embedder: Embedder
) -> list[tuple[float, dict[str, Any]]]:
    """The k best parents, each with its score: the maximum over itself and its children."""
    [vector] = embedder.queries([question])
    total = table.count_rows()
    best: dict[str, float] = {}
    taken = 4 * k
    while (
        True
    ):  # pieces come best first, so a parent's first is its best; until there are k parents
        nearest = table.search(vector).distance_type("cosine").limit(taken).to_list()
        for piece in nearest:
            best.setdefault(piece["parent"], 1 - piece["_distance"])
        if len(best) >= k or taken >= total:
            break
        taken *= 2
    hits = []
    for parent, score in islice(best.items(), k):
        [row] = table.search().where(f"id = '{parent}'").limit(1).to_list()  # ids are hexadecimal
        hits.append((score, row))
    return hits


if __name__ == "__main__":
    embedder = load_embedder()
    table = store(Path(sys.argv[1]), Path(sys.argv[2]), embedder)
    for score, parent in search(table, sys.argv[3], 3, embedder):
        print(
            f"{score:.3f} {parent['document']} {parent['start']}–{parent['end']}\n{parent['text'].strip()}\n"
        )
