"""What decides the chunks of a document apart from its text, told without loading a model."""

from __future__ import annotations

import hashlib
import json

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.document import Tree
from lgmgc.files.rows import rows
from lgmgc.lm.locate import Located, locate
from lgmgc.lm.store import default_cache, sha256_of


def configuration_of(settings: Settings, choice: ModelChoice, embedder: str | None = None) -> str:
    """Settings and the models that decide cuts, as one line of JSON.

    A document that was indexed under the same line, with the same text, need not be cut again.

    Args:
        settings: of the chunker.
        choice: its models; the language model's weights are read to tell them from others, about a
            second a gigabyte, unless they are the catalogue's.
        embedder: the identity of the one that the method asks; not read where it asks none.

    Raises:
        ModelError: a model is not there, or cannot run as asked.
    """
    decides: dict[str, object] = dict(settings.configuration)
    needs = settings.plan.needs
    if settings.options.boundaries is not None:  # what it says decides, not where it is
        decides["boundaries"] = sha256_of(settings.options.boundaries)
    if settings.unit == "tokens" or {"scorer", "writer"} & set(needs):
        decides["model"] = _model(choice)
    if "embedder" in needs:
        decides["embedder"] = embedder
    return json.dumps(decides, ensure_ascii=False, sort_keys=True)


def configuration_of_tree(tree: Tree) -> str:
    """The same for chunks that come from a file: the chunks themselves."""
    digest = hashlib.sha256()
    for row in rows(tree):
        digest.update(row)
    return json.dumps({"chunks": digest.hexdigest()})


def _model(choice: ModelChoice) -> dict[str, object]:
    # Here, because torch takes seconds to import.
    from lgmgc.lm.machine import choose_device, choose_precision

    located = locate(choice.model, choice.cache or default_cache())
    return {
        "weights": _weights(located),
        "precision": choose_precision(choice.precision, choose_device(choice.device)),
        "prompt": choice.prompt,
        "template": choice.template,
        "eos": list(choice.eos),
    }


def _weights(located: Located) -> object:
    if located.entry is not None:
        return located.entry.sha256  # verified when it was pulled
    if located.source.is_file():
        return sha256_of(located.source)
    return [sha256_of(file) for file in sorted(located.source.glob("*.safetensors"))]
