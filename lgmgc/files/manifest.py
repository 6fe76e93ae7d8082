"""The manifest: the record beside an output of how it was made and from what."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from lgmgc import __version__
from lgmgc.document import Tree
from lgmgc.files.reader import MANIFEST

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


def versions() -> dict[str, str]:
    """Give the versions of lgmgc, Python and those `LIBRARIES` that are installed."""
    found = {"lgmgc": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@dataclass(slots=True)
class Record:
    """What becomes of each document of a run.

    Attributes:
        documents: one entry for each that was chunked, in the order of the output.
        failed: one entry for each that was not.
        empty: how many of `documents` had no text at all.
    """

    documents: list[dict[str, object]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    empty: int = 0

    def add(self, tree: Tree) -> None:
        """Note a document that was chunked."""
        document = tree.document
        self.empty += not document.text
        self.documents.append(
            {
                "id": document.id,
                "sha256": document.content_hash,
                "characters": len(document.text),
                "words": sum(parent.words for parent in tree.parents),
                "chunks": sum(1 + len(parent.children) for parent in tree.parents),
            }
        )

    def fail(self, document: str, message: str) -> None:
        """Note a document that could not be chunked, and why."""
        self.failed.append({"id": document, "message": message})


def manifest(
    *,
    configuration: Mapping[str, object],
    record: Record,
    counts: Counts,
    models: LoadedModels,
    weights_sha256: str | None,
    seconds: Mapping[str, float],
    output: str,
    sha256: str,
) -> bytes:
    """Write the manifest as indented JSON.

    Args:
        configuration: the options of the run.
        record: the documents.
        counts: what the chunker counted.
        models: what was asked; its language model, if there was one, is described.
        weights_sha256: the model's.
        seconds: wall time by stage.
        output: the output's file name, without its folder.
        sha256: the output's.
    """
    loaded = models.loaded
    asked = loaded.scorer.counters if loaded else None
    writer = models.writer.counters if models.writer else None
    content = {
        "configuration": dict(configuration),
        "versions": versions(),
        "model": _model(loaded, weights_sha256) if loaded else None,
        "embedder": _embedder(models.embedder) if models.embedder else None,
        "output": {"file": output, "sha256": sha256},
        "counts": {
            "documents": len(record.documents),
            "empty_documents": record.empty,
            "failed_documents": len(record.failed),
            "parents": counts.parents,
            "chunks": counts.chunks,
            "words": counts.words,
            "sentences": counts.sentences,
            "sentences_divided": counts.divided,
            "windows_shortened": counts.shortened,
            "windows": asked.windows if asked else 0,
            "model_calls": asked.calls if asked else 0,
            "texts_written": writer.calls if writer else 0,
            "texts_embedded": models.embedder.counters.texts if models.embedder else 0,
            "tokens_read": models.tokens_read,
            "retries": counts.retries,
            "fallbacks": counts.fallbacks,
        },
        "seconds": {stage: round(duration, 3) for stage, duration in seconds.items()},
        "documents": record.documents,
        "failed": record.failed,
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def _model(loaded: LoadedModel, weights_sha256: str | None) -> dict[str, object]:
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
