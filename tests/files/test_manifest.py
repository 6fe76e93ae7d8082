import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable
from importlib import metadata

from lgmgc import __version__
from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.cutter import OneProcess
from lgmgc.chunkers.load import LoadedModels
from lgmgc.document import Document
from lgmgc.files.manifest import entry, manifest, versions
from lgmgc.files.rows import SCHEMA

NAMES = ("torch", "transformers", "sentence-transformers", "tokenizers", "nupunkt", "sentencex")


def test_versions() -> None:
    found = versions("pyarrow", "no-such-library")
    assert found["lgmgc"] == __version__
    assert found["python"] == platform.python_version()
    for name in (*NAMES, "pyarrow"):
        assert found[name] == metadata.version(name)
    assert "no-such-library" not in found
    assert "pyarrow" not in versions()


def written(
    documents: Iterable[dict[str, object]] = (), failed: Iterable[dict[str, object]] = ()
) -> bytes:
    pieces = manifest(
        made={"configuration": {"theta": 4}, "model": None},
        output={"file": "out.jsonl"},
        counts={"documents": 2},
        seconds={"loading": 0.0, "chunking": 1.23456},
        documents=documents,
        failed=failed,
    )
    return b"".join(pieces)


def test_a_manifest() -> None:
    entries: list[dict[str, object]] = [{"id": "a\u2028b"}, {"id": "b", "words": 1}]
    failed: list[dict[str, object]] = [{"id": "c", "message": "c: is binary"}]
    expected = {
        "schema": SCHEMA,
        "configuration": {"theta": 4},
        "model": None,
        "output": {"file": "out.jsonl"},
        "counts": {"documents": 2},
        "seconds": {"loading": 0.0, "chunking": 1.235},
        "documents": entries,
        "failed": failed,
    }
    data = written(entries, failed)
    # Written in pieces, and yet as json would write it.
    assert data.decode() == json.dumps(expected, ensure_ascii=False, indent=2) + "\n"
    assert json.loads(written()) == {**expected, "documents": [], "failed": []}


def test_what_is_said_of_documents_and_counted() -> None:
    cutter = OneProcess(LoadedModels(), Settings(method="mg", theta=4))
    documents = [Document("a.txt", "Ein Satz. Noch ein Satz."), Document("b.txt", "")]
    cut = list(cutter.cut(documents, lambda *told: None, lambda *told: None))
    assert [entry(tree) for tree, _ in cut] == [
        {
            "id": "a.txt",
            "sha256": hashlib.sha256(b"Ein Satz. Noch ein Satz.").hexdigest(),
            "characters": 24,
            "words": 5,
            "chunks": 9,
        },
        {
            "id": "b.txt",
            "sha256": hashlib.sha256(b"").hexdigest(),
            "characters": 0,
            "words": 0,
            "chunks": 0,
        },
    ]
    counted = {key: count for key, count in cutter.total.items() if count}
    assert counted == {"parents": 2, "chunks": 9, "words": 5, "sentences": 2}
    assert [+taken for _, taken in cut] == [Counter(counted), Counter()]
    assert cutter.identity == {"model": None, "embedder": None}
