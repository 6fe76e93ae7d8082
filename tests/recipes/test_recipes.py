"""The recipes with the real libraries and the small embedder: the same parents as lgmgc's index."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lgmgc import Index
from lgmgc.files.chunks import read_trees
from lgmgc.lm.embedder import Embedder, load_embedder
from tests.cli.program import run

ROOT = Path(__file__).parents[2]
QUESTION = "Why do the lamps dim?"
AWKWARD = "It's \\'quoted\\', a \"thing\"; DROP TABLE pieces; --\r\n:name $1 {x} \u2028 \U0001f600."


def recipe(name: str) -> Any:
    path = ROOT / "scripts" / "recipes" / f"into_{name}.py"
    spec = importlib.util.spec_from_file_location(f"into_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("all-minilm-l6-v2", device="cpu")


@pytest.fixture(scope="module")
def chunks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "awkward.txt").write_bytes(AWKWARD.encode())
    sources = (ROOT / "samples/harbour.md", folder / "awkward.txt")
    done = run("chunk", *sources, "--method", "mg", "--theta", "60", "--out", folder / "c.jsonl")
    assert done.status == 0, done.err
    return folder / "c.jsonl"


@pytest.fixture(scope="module")
def expected(chunks: Path, embedder: Embedder) -> list[tuple[str, float]]:
    """Parents and scores, as lgmgc's own index finds them: exactly."""
    with Index.open(chunks.with_name("index.db"), embedder, create=True) as index:
        index.add(read_trees(chunks))
        return [(hit.parent.text, hit.score) for hit in index.search(QUESTION, 4)]


def check(hits: list[tuple[float, dict[str, Any]]], expected: list[tuple[str, float]]) -> None:
    assert [parent["text"] for _, parent in hits] == [text for text, _ in expected]
    np.testing.assert_allclose([score for score, _ in hits], [s for _, s in expected], atol=1e-5)
    assert all(parent["level"] == 0 for _, parent in hits)


def test_lancedb(
    tmp_path: Path, chunks: Path, embedder: Embedder, expected: list[tuple[str, float]]
) -> None:
    module = recipe("lancedb")
    table = module.store(chunks, tmp_path / "db", embedder)
    assert table.count_rows() == len(chunks.read_bytes().splitlines())
    check(module.search(table, QUESTION, 4, embedder), expected)
    everything = module.search(table, QUESTION, 1_000, embedder)
    assert AWKWARD in [parent["text"] for _, parent in everything]
    assert len(everything) == sum(len(tree.parents) for tree in read_trees(chunks))


def test_qdrant(chunks: Path, embedder: Embedder, expected: list[tuple[str, float]]) -> None:
    module = recipe("qdrant")
    client = module.QdrantClient(":memory:")
    for _ in range(2):  # the second time in place of the first
        module.store(chunks, client, embedder)
    count = client.count(module.NAME).count
    assert count == len(chunks.read_bytes().splitlines())
    check(module.search(client, QUESTION, 4, embedder), expected)


def test_pgvector(chunks: Path, embedder: Embedder, expected: list[tuple[str, float]]) -> None:
    # SQLite reads literals as PostgreSQL does with standard_conforming_strings on, so it can tell
    # what the statements say. It has no vectors: their texts are read back instead.
    module = recipe("pgvector")
    first, extension, create = module.schema(embedder.dimensions)
    assert first == "SET standard_conforming_strings = on;"
    assert extension == "CREATE EXTENSION IF NOT EXISTS vector;"
    assert "embedding vector(384)" in create
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.execute(create)
    statements = list(module.inserts(chunks, embedder))
    assert (statements[0], statements[-1]) == ("BEGIN;", "COMMIT;")
    for statement in statements:
        database.execute(statement)  # which refuses more than one statement
    stored = database.execute(
        "SELECT id, document, parent, level, start_at, end_at, text FROM pieces"
    )
    rows = [json.loads(line) for line in chunks.read_bytes().splitlines()]
    names = ("id", "document", "parent", "level", "start", "end", "text")
    wanted = [
        tuple((r["parent"] or r["id"]) if n == "parent" else r[n] for n in names) for r in rows
    ]
    assert list(stored) == wanted
    assert AWKWARD in [row[-1] for row in wanted]

    def distance(left: str, right: str) -> float:
        return 1 - float(np.dot(json.loads(left), json.loads(right)))

    database.create_function("distance", 2, distance)
    query = module.query(QUESTION, 4, embedder)
    start = query.index("embedding <=> ")
    end = query.index(")", start)
    _, vector = query[start:end].split(" <=> ")
    asked = database.execute(query.replace(query[start:end], f"distance(embedding, {vector})"))
    found = list(asked)
    assert [row[-1] for row in found] == [text for text, _ in expected]
    np.testing.assert_allclose([row[0] for row in found], [s for _, s in expected], atol=1e-5)


@pytest.mark.parametrize("text", ["", "'", "''", "\\", "\\'", "a\nb", AWKWARD])
def test_literals_are_read_as_what_they_say(text: str) -> None:
    literal = recipe("pgvector").literal
    [[read]] = sqlite3.connect(":memory:").execute(f"SELECT {literal(text)}")
    assert read == text


def test_what_postgresql_cannot_hold() -> None:
    with pytest.raises(ValueError, match=r"U\+0000"):
        recipe("pgvector").literal("a\0b")
