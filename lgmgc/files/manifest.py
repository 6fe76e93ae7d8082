"""The manifest: the record beside an output of how it was made and from what."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from lgmgc import __version__
from lgmgc.document import Tree
from lgmgc.files.reader import MANIFEST
from lgmgc.files.rows import SCHEMA

if TYPE_CHECKING:  # these bring in torch, which a run without a model goes without
    from lgmgc.chunkers.chunker import Counts
    from lgmgc.chunkers.load import LoadedModels
    from lgmgc.lm.embedder import Embedder
    from lgmgc.lm.load import LoadedModel

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


def tally(counts: Counts, models: LoadedModels) -> Counter[str]:
    """Say what was made and asked so far.

    Args:
        counts: the chunker's.
        models: what it asked.
    """
    asked = models.loaded.scorer.counters if models.loaded else None
    return Counter(
        {
            "parents": counts.parents,
            "chunks": counts.chunks,
            "words": counts.words,
            "sentences": counts.sentences,
            "sentences_divided": counts.divided,
            "windows_shortened": counts.shortened,
            "windows": asked.windows if asked else 0,
            "model_calls": asked.calls if asked else 0,
            "texts_written": models.writer.counters.calls if models.writer else 0,
            "texts_embedded": models.embedder.counters.texts if models.embedder else 0,
            "tokens_read": models.tokens_read,
            "retries": counts.retries,
            "fallbacks": counts.fallbacks,
        }
    )


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
        made: what decides the output; see `describe`.
        output: its files.
        counts: documents, and what they took; see `tally`. What the models were asked is, in a run
            that was interrupted, that of the documents in the output, in whichever run.
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


def describe(models: LoadedModels) -> dict[str, object]:
    """Say which models are asked; the language model's weights are read for their sha256."""
    return {
        "model": _model(models.loaded, models.loaded.weights_sha256()) if models.loaded else None,
        "embedder": _embedder(models.embedder) if models.embedder else None,
    }


def _model(loaded: LoadedModel, weights_sha256: str) -> dict[str, object]:
    return {
        "name": loaded.name,
        "weights_sha256": weights_sha256,
        "precision": loaded.precision,
        "device": loaded.device,
        "eos": [{"id": number, "text": text} for number, text in loaded.eos],
        "prompt": loaded.prompt,
        "template": loaded.template,
    }


def _embedder(embedder: Embedder) -> dict[str, object]:
    return {"name": embedder.name, "identity": embedder.identity}
