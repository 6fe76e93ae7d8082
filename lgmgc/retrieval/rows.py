"""Documents into the tables, out of them, and away: each function inside one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from lgmgc.document import Chunk, Document, Heading, Tree
from lgmgc.retrieval.embedding import Packed, VectorType, unpack
from lgmgc.retrieval.hits import Hit, Passage
from lgmgc.retrieval.matrix import Matrix
from lgmgc.retrieval.ranking import Match
from lgmgc.retrieval.terms import spaced
from lgmgc.text.sizes import count_words

_LEXICAL = """
SELECT terms.rank, name, chunks.parent, chunks.id
FROM terms JOIN chunks ON chunks.id = terms.rowid JOIN documents ON documents.id = document
WHERE terms MATCH ? ORDER BY terms.rank
"""

_HITS = """
SELECT c.id, c.document, c.chunk, c.level, c.start, c.stop, c.view,
    p.chunk, p.level, p.start, p.stop, p.view,
    coalesce(c.window_start, p.window_start, p.start),
    coalesce(c.window_stop, p.window_stop, p.stop)
FROM chunks AS c JOIN chunks AS p ON p.id = c.parent
WHERE c.id IN (SELECT value FROM json_each(?))
"""


def pieces(tree: Tree) -> Iterator[tuple[int, Chunk]]:
    """What is searched for: every parent, followed by its children, in the order that settles ties.

    Yields:
        How many pieces come before the parent that this one belongs to, and the piece.
    """
    before = 0
    for parent in sorted(tree.parents, key=lambda parent: (parent.start, parent.end)):
        yield from ((before, piece) for piece in (parent, *parent.children))
        before += 1 + len(parent.children)


def content(chunk: Chunk) -> str:
    """What stands for a chunk when it is embedded and searched for."""
    return chunk.text if chunk.view is None else chunk.view


def put(
    connection: sqlite3.Connection,
    tree: Tree,
    content_hash: str,
    configuration: str,
    vectors: Packed | None,
) -> bool:
    """Store a document in place of what there is under its id.

    Returns:
        Whether there was something.
    """
    name, text = tree.document.id, tree.document.text
    replaced = forget(connection, name)
    document = connection.execute(
        "INSERT INTO documents (name, content_hash, configuration, words, text, layout) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (name, content_hash, configuration, count_words(text), text, _layout(tree.document)),
    ).lastrowid
    [last] = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'chunks'"
    ).fetchone()
    numbered = [(last + 1 + k, last + 1 + up, c) for k, (up, c) in enumerate(pieces(tree))]
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (key, document, up, c.id, c.level, c.start, c.end, *(c.window or (None, None)), c.view)
            for key, up, c in numbered
        ),
    )
    connection.executemany(
        "INSERT INTO terms (rowid, text) VALUES (?, ?)",
        ((key, spaced(content(c))) for key, _, c in numbered),
    )
    if vectors is not None:
        connection.execute("INSERT INTO vectors VALUES (?, ?, ?)", (document, *vectors))
    return replaced


def forget(connection: sqlite3.Connection, name: str) -> bool:
    """Remove a document and all that hangs on it; False when there is none of that id."""
    found = connection.execute("SELECT id, text FROM documents WHERE name = ?", (name,)).fetchone()
    if found is None:
        return False
    document, text = found
    chunks = connection.execute(
        "SELECT id, start, stop, view FROM chunks WHERE document = ?", (document,)
    ).fetchall()
    connection.executemany(
        "INSERT INTO terms (terms, rowid, text) VALUES ('delete', ?, ?)",
        (
            (key, spaced(text[start:stop] if view is None else view))
            for key, start, stop, view in chunks
        ),
    )
    connection.execute("DELETE FROM chunks WHERE document = ?", (document,))
    connection.execute("DELETE FROM vectors WHERE document = ?", (document,))
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    return True


def load(connection: sqlite3.Connection, kind: VectorType, dimensions: int) -> Matrix:
    """Read all vectors; documents in the order of their ids, so that ties go by them."""
    [count] = connection.execute("SELECT count(*) FROM chunks").fetchone()
    chunks = np.fromiter(
        connection.execute(
            "SELECT chunks.id, parent, level FROM documents JOIN chunks "
            "ON document = documents.id ORDER BY name, chunks.id"
        ),
        np.dtype([("id", np.int64), ("parent", np.int64), ("level", np.int8)]),
        count,
    )
    rows = np.empty((count, dimensions), np.float32 if kind == "float32" else np.int8)
    scales = np.empty(count if kind == "int8" else 0, np.float32)
    start = 0
    for packed in connection.execute(
        "SELECT vectors, scales FROM documents JOIN vectors ON document = id ORDER BY name"
    ):
        block, factors = unpack(Packed(*packed), kind, dimensions)
        rows[start : start + len(block)] = block
        scales[start : start + len(factors)] = factors
        start += len(block)
    starts = np.flatnonzero(chunks["id"] == chunks["parent"])
    return Matrix(rows, scales, chunks["id"].copy(), chunks["level"].copy(), starts)


def lexical(connection: sqlite3.Connection, expression: str, k: int) -> list[Match]:
    """The k best parents by BM25 of their best piece; fewer when fewer match.

    Pieces come best first, so a parent's first is its best: they are taken until there are k
    parents, and on through those that tie with the last. Row ids rise with the document's text.
    """
    if not expression:
        return []
    best: dict[int, tuple[float, str, int, int]] = {}
    last = 0.0
    for found in connection.execute(_LEXICAL, (expression,)):
        rank, _, parent, _ = found  # FTS5's rank is −BM25
        if rank > last and len(best) >= k:
            break
        best[parent] = min(found, best.get(parent, found))
        last = rank
    return [Match(parent, piece, -rank) for rank, _, parent, piece in sorted(best.values())[:k]]


def places(connection: sqlite3.Connection, parents: Sequence[int]) -> dict[int, tuple[str, int]]:
    """What orders parents of equal score: the document's id, then the place in its text."""
    found = connection.execute(
        "SELECT chunks.id, name FROM chunks JOIN documents ON documents.id = document "
        "WHERE chunks.id IN (SELECT value FROM json_each(?))",
        (json.dumps(parents),),
    )
    return {parent: (name, parent) for parent, name in found}


def hits(connection: sqlite3.Connection, matches: Sequence[Match]) -> list[Hit]:
    """Fetch the texts of a ranking."""
    wanted = json.dumps([match.piece for match in matches])
    found = {row[0]: row[1:] for row in connection.execute(_HITS, (wanted,))}
    documents = {
        key: _document(
            *connection.execute(
                "SELECT name, text, layout FROM documents WHERE id = ?", (key,)
            ).fetchone()
        )
        for key in {row[0] for row in found.values()}
    }
    result = []
    for rank, match in enumerate(matches, 1):
        key, *columns, start, end = found[match.piece]
        of = documents[key]
        piece, parent = _passage(of, *columns[:5]), _passage(of, *columns[5:])
        result.append(
            Hit(rank, match.score, of.id, parent, piece, (start, end), of.text[start:end])
        )
    return result


def _passage(
    document: Document, chunk: str, level: int, start: int, end: int, view: str | None
) -> Passage:
    piece = Chunk(document, chunk, level, start, end, 0)
    return Passage(chunk, level, start, end, piece.text, view, piece.pages, piece.headings)


def _layout(document: Document) -> str:
    headings = [[heading.start, heading.level, heading.title] for heading in document.headings]
    return json.dumps({"pages": document.pages, "headings": headings}, ensure_ascii=False)


def _document(name: str, text: str, layout: str) -> Document:
    given = json.loads(layout)
    headings = tuple(Heading(*heading) for heading in given["headings"])
    return Document(name, text, pages=tuple(given["pages"]), headings=headings)
