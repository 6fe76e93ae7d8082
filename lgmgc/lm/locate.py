"""From what a user calls a model to a folder on disk."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from lgmgc.errors import ModelError
from lgmgc.lm import catalogue, store
from lgmgc.lm.gguf import dequantised


@dataclass(frozen=True, slots=True)
class Located:
    """A model on this machine.

    Attributes:
        name: as outputs name it.
        folder: configuration, tokenizer and safetensors.
        source: what the user gave: the folder, or the GGUF file that the folder was made of.
        entry: the catalogue's, for a model that it names.
    """

    name: str
    folder: Path
    source: Path
    entry: catalogue.CatalogueModel | None = None


def locate(model: str | None, cache: Path) -> Located:
    """Find a model without the network (law 6).

    Args:
        model: a catalogue name, a folder, a ``.gguf`` file, or a hub id whose files are in the
            local Hugging Face cache; None for the environment's LGMGC_MODEL, else the default.
        cache: where catalogue models and dequantised GGUF files are kept.

    Raises:
        ModelError: it is not there, or holds no weights that are safe to open (law 8).
    """
    name = model or os.environ.get("LGMGC_MODEL") or catalogue.DEFAULT_MODEL
    path = Path(name).expanduser()
    if name in catalogue.CATALOGUE and not path.exists():
        entry = catalogue.find(name)
        if entry.kind != "causal-lm":
            raise ModelError(f"{name} is an embedder; chunking needs a causal language model")
        gguf = store.path_of(entry, cache)
        return Located(name, dequantised(gguf, cache), gguf, entry)
    if path.is_file():
        return Located(path.name, dequantised(path, cache), path)
    if path.is_dir():
        return Located(path.resolve().name, _checked(path), path)
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name) and (folder := in_hub_cache(name)):
        return Located(name, _checked(folder), folder)
    raise ModelError(
        f"no model {name!r}: it is no folder, no .gguf file, not in the local Hugging Face cache, "
        f"and the catalogue has {', '.join(_scorers())}; see `lgmgc models list`"
    )


def _scorers() -> list[str]:
    return [name for name, entry in catalogue.CATALOGUE.items() if entry.kind == "causal-lm"]


def _checked(folder: Path) -> Path:
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder} holds no config.json; give a Hugging Face model folder")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(
            f"{folder} holds no .safetensors weights; pickled ones (.bin, .pth) are refused, "
            "because opening them runs code: convert them with transformers' save_pretrained first"
        )
    return folder


def in_hub_cache(name: str) -> Path | None:
    """The folder of a hub id whose files are on this machine; None where they are not."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
