#!/usr/bin/env python3
"""Chunks into Qdrant: pieces with their parent, and the parents whose best piece is nearest to a question.

Usage: scripts/recipes/into_qdrant.py CHUNKS.jsonl FOLDER QUESTION
Needs: pip install lgmgc qdrant-client. The folder is Qdrant's local mode, without a server; for a server, give
`QdrantClient(url=…)`. Nothing leaves the machine.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams

from lgmgc.lm.embedder import Embedder, load_embedder

NAME = "pieces"


def store(chunks: Path, client: QdrantClient, embedder: Embedder) -> None:
    """Make the collection; 256 rows are in memory at once."""
    if client.collection_exists(NAME):
        client.delete_collection(NAME)
    client.create_collection(NAME, VectorParams(size=embedder.dimensions, distance=Distance.COSINE))
    with chunks.open(encoding="utf-8", newline="\n") as file:
        while rows := [json.loads(line) for line in islice(file, 256)]:
            # A parent is a piece of itself. What a model wrote of a piece stands for it (`view`).
            vectors = embedder.passages([row["view"] or row["text"] for row in rows])
            points = [
                PointStruct(
                    id=int(row["id"], 16),  # 64 bits, as Qdrant wants them
                    vector=vector.tolist(),
                    payload={**row, "parent": row["parent"] or row["id"]},
                )
                for row, vector in zip(rows, vectors, strict=True)
            ]
            client.upsert(NAME, points)


def search(
    client: QdrantClient, question: str, k: int, embedder: Embedder
) -> list[tuple[float, dict[str, Any]]]:
    """The k best parents, each with its score: the maximum over itself and its children."""
    [vector] = embedder.queries([question])
    found = client.query_points_groups(
        NAME, query=vector.tolist(), group_by="parent", limit=k, group_size=1
    )
    hits = []
    for group in found.groups:
        [parent] = client.retrieve(NAME, [int(str(group.id), 16)])
        hits.append((group.hits[0].score, parent.payload or {}))
    return hits


if __name__ == "__main__":
    embedder = load_embedder()
    client = QdrantClient(path=sys.argv[2])
    store(Path(sys.argv[1]), client, embedder)
    for score, parent in search(client, sys.argv[3], 3, embedder):
        print(
            f"{score:.3f} {parent['document']} {parent['start']}–{parent['end']}\n{parent['text'].strip()}\n"
        )
    client.close()
