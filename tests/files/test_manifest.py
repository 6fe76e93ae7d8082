import hashlib
import json
import platform
from importlib import metadata

from lgmgc import __version__
from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.load import LoadedModels
from lgmgc.document import Document
from lgmgc.files.manifest import Record, manifest, versions


def test_versions() -> None:
    found = versions()
    assert found["lgmgc"] == __version__
    assert found["python"] == platform.python_version()
    for name in (
        "torch",
        "transformers",
        "sentence-transformers",
        "tokenizers",
        "nupunkt",
        "sentencex",
    ):
        assert found[name] == metadata.version(name)


def test_what_a_run_leaves_behind() -> None:
    chunker = Chunker(Settings(method="mg", theta=4))
    record = Record()
    documents = [Document("a.txt", "Ein Satz. Noch ein Satz."), Document("b.txt", "")]
    for tree in chunker.chunk_many(documents):
        record.add(tree)
    record.fail("c.txt", "c.txt: is binary")
    content = json.loads(
        manifest(
            configuration={"theta": 4},
            record=record,
            counts=chunker.counts,
            models=LoadedModels(),
            weights_sha256=None,
            seconds={"loading": 0.0, "chunking": 1.23456},
            output="out.jsonl",
            sha256="abc",
        )
    )
    assert content["versions"] == versions()
    del content["versions"]
    assert content == {
        "configuration": {"theta": 4},
        "model": None,
        "embedder": None,
        "output": {"file": "out.jsonl", "sha256": "abc"},
        "counts": {
            "documents": 2,
            "empty_documents": 1,
            "failed_documents": 1,
            "parents": 2,
            "chunks": 9,
            "words": 5,
            "sentences": 2,
            "sentences_divided": 0,
            "windows_shortened": 0,
            "windows": 0,
            "model_calls": 0,
            "texts_written": 0,
            "texts_embedded": 0,
            "tokens_read": 0,
            "retries": 0,
            "fallbacks": 0,
        },
        "seconds": {"loading": 0.0, "chunking": 1.235},
        "documents": [
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
        ],
        "failed": [{"id": "c.txt", "message": "c.txt: is binary"}],
    }
