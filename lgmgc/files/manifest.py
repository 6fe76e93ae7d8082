"""The manifest: the record beside an output of how it was made and from what."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from lgmgc import __version__
from lgmgc.document import Tree
from lgmgc.files.reader import MANIFEST
from lgmgc.files.rows import SCHEMA

LIBRARIES = (
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "accelerate",
    "bitsandbytes",
    "safetensors",
    "gguf",
    "tiktoken",
    "numpy",
    "nupunkt",
    "sentencex",
    "regex",
)
"""What decides cuts or scores, apart from lgmgc itself and Python."""


def beside(output: Path) -> Path:
    """Give the manifest's place.

    >>> beside(Path("out/book.jsonl")).name
    'book.jsonl.manifest.json'
    """
    return output.with_name(f"{output.name}{MANIFEST}")


def versions(*also: str) -> dict[str, str]:
    """Give the versions of lgmgc, Python and those `LIBRARIES`, or others, that are installed."""
    found = {"lgmgc": __version__, "python": platform.python_version()}
    for name in (*LIBRARIES, *also):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def entry(tree: Tree) -> dict[str, object]:
    """Say of a document that was chunked what the manifest has of it."""
    document = tree.document
    return {
        "id": document.id,
        "sha256": document.content_hash,
        "characters": len(document.text),
        "words": sum(parent.words for parent in tree.parents),
        "chunks": sum(1 + len(parent.children) for parent in tree.parents),
    }


def manifest(
    *,
    made: Mapping[str, object],
    output: Mapping[str, object],
    counts: Mapping[str, int],
    seconds: Mapping[str, float],
    documents: Iterable[Mapping[str, object]],
    failed: Iterable[Mapping[str, object]],
) -> Iterator[bytes]:
    """Write the manifest as indented JSON, piece by piece (law 5).

    Args:
        made: what decides the output.
        output: its files.
        counts: documents, and what they took; see `lgmgc.chunkers.cutter.tally`. What the models
            were asked is, in a run that was interrupted, that of the documents in the output, in
            whichever run.
        seconds: wall time by stage, of the last run.
        documents: an `entry` for each document, in the order of the output.
        failed: ``id`` and ``message`` of each that failed.
    """
    rounded = {stage: round(duration, 3) for stage, duration in seconds.items()}
    content = {
        "schema": SCHEMA,
        **made,
        "output": output,
        "counts": counts,
        "seconds": rounded,
    }
    yield json.dumps(content, ensure_ascii=False, indent=2).removesuffix("\n}").encode("utf-8")
    for name, entries in (("documents", documents), ("failed", failed)):
        yield f',\n  "{name}": ['.encode()
        between = ""
        for each in entries:
            written = json.dumps(each, ensure_ascii=False, indent=2).replace("\n", "\n    ")
            yield f"{between}\n    {written}".encode()
            between = ","
        yield b"\n  ]" if between else b"]"
    yield b"\n}\n"
