"""A sentence-transformers folder before it is opened: found, safe to open, and what it asks for."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from lgmgc.errors import ModelError
from lgmgc.lm import catalogue, store
from lgmgc.lm.locate import Located, in_hub_cache

_WEIGHTED = {"Transformer", "StaticEmbedding", "Dense", "LayerNorm"}
_UNWEIGHTED = {"Pooling", "Normalize", "Dropout"}
_READ = ("*.json", "*.safetensors", "*.txt", "*.model")
"""What of a folder can change a vector: configuration, weights, vocabularies."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants before a text."""

    query: str = ""
    passage: str = ""


_BGE = Prefixes(query="Represent this sentence for searching relevant passages: ")
_ASKED_FOR = (
    # The models' cards, https://huggingface.co/intfloat/e5-base-v2 and multilingual-e5-base; those
    # for instructions ("e5-…-instruct") want others, which stand in their folders.
    (
        r"(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?",
        Prefixes("query: ", "passage: "),
    ),
    # https://huggingface.co/BAAI/bge-base-en-v1.5
    (r"bge-(small|base|large)-en(-v1\.5)?", _BGE),
)


def locate_embedder(model: str | None, cache: Path) -> Located:
    """Find an embedder without the network (law 6) and check that it is safe to open (law 8).

    Args:
        model: a catalogue name, a sentence-transformers folder, or a hub id whose files are in the
            local Hugging Face cache; None for the environment's LGMGC_EMBEDDER, else the default.
        cache: where catalogue models are kept.

    Raises:
        ModelError: it is not there, is no embedder, or is not safe to open.
    """
    name = model or os.environ.get("LGMGC_EMBEDDER") or catalogue.DEFAULT_EMBEDDER
    known = [key for key, entry in catalogue.CATALOGUE.items() if entry.kind == "embedder"]
    path = Path(name).expanduser()
    located = None
    if name in catalogue.CATALOGUE and not path.exists():
        entry = catalogue.find(name)
        if entry.kind != "embedder":
            raise ModelError(
                f"{name} is a language model and embeds nothing; choose {' or '.join(known)}, "
                f"after `lgmgc models pull {known[0]}`"
            )
        folder = store.path_of(entry, cache)
        located = Located(name, folder, folder, entry)
    elif path.is_dir():
        located = Located(path.resolve().name, path, path)
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", name) and (found := in_hub_cache(name)):
        located = Located(name, found, found)
    if located is None:
        raise ModelError(
            f"no embedder {name!r}: it is no folder and not in the local Hugging Face cache; "
            f"get one with `lgmgc models pull NAME`, where NAME is {' or '.join(known)}"
        )
    for kind, part in _parts(located.folder):
        _check(kind, part)
    return located


def prefixes_of(located: Located) -> Prefixes:
    """What the model's folder asks for, else what is known of models of that name.

    The folder's word is "prompts" in config_sentence_transformers.json, under the names that
    sentence-transformers' ``encode_query`` and ``encode_document`` look for.
    """
    settings = _json(located.folder / "config_sentence_transformers.json", {})
    prompts = settings.get("prompts") or {}
    default = prompts.get(settings.get("default_prompt_name")) or ""
    passage = next(
        (prompts[key] for key in ("document", "passage", "corpus") if key in prompts), ""
    )
    said = Prefixes(prompts.get("query") or default, passage or default)
    if said != Prefixes():
        return said
    origin = _json(located.folder / "config.json", {}).get("_name_or_path") or ""
    for name in (located.name, origin):
        for pattern, prefixes in _ASKED_FOR:
            if re.search(rf"(^|[/_]){pattern}/?$", name.lower()):
                return prefixes
    return said


def architecture_of(folder: Path) -> str:
    """The transformer's, as its configuration names it; empty where that is elsewhere."""
    return str(_json(folder / "config.json", {}).get("model_type", ""))


def digest_of(folder: Path, prefixes: Prefixes, rule: int) -> str:
    """The sha256 of all that makes a vector: 64 hexadecimal digits.

    Reads every byte of the weights, about a second a gigabyte.

    Args:
        folder: of the model.
        prefixes: in use.
        rule: the version of our own way to pool.
    """
    places = {folder, *(part for _, part in _parts(folder))}
    files = {file for place in places for kind in _READ for file in place.glob(kind)}
    sums = sorted((str(file.relative_to(folder)), store.sha256_of(file)) for file in files)
    return hashlib.sha256(json.dumps([rule, astuple(prefixes), sums]).encode()).hexdigest()


def _parts(folder: Path) -> list[tuple[str, Path]]:
    """The class and the folder of each module."""
    modules = _json(folder / "modules.json", None)
    if not modules:
        raise ModelError(
            f"{folder} holds no modules.json; give a sentence-transformers folder, or get one with "
            f"`lgmgc models pull {catalogue.DEFAULT_EMBEDDER}`"
        )
    try:
        return [(module["type"], folder / module["path"]) for module in modules]
    except (KeyError, TypeError) as error:
        raise ModelError(f"{folder / 'modules.json'} lists no modules; get it again") from error


def _check(kind: str, place: Path) -> None:
    package, _, name = kind.rpartition(".")
    # sentence-transformers before 6 runs a local folder's own classes without being asked to.
    if package.split(".")[0] != "sentence_transformers" or name not in _WEIGHTED | _UNWEIGHTED:
        raise ModelError(
            f"{place} is made by {kind}, which lgmgc does not open; choose an embedder made of "
            f"{', '.join(sorted(_WEIGHTED | _UNWEIGHTED))}"
        )
    # The name is the one that is opened: beside another, a pickle would be.
    weights = "*.safetensors" if name == "Transformer" else "model.safetensors"
    if name in _WEIGHTED and not any(place.glob(weights)):
        raise ModelError(
            f"{place} holds no .safetensors weights; pickled ones (.bin) are refused, because "
            "opening them runs code: save the model again with sentence-transformers' "
            "save_pretrained first"
        )
    if (place / "adapter_config.json").exists():
        raise ModelError(f"{place} is an adapter; merge it into its model and save that first")


def _json(path: Path, absent: Any) -> Any:
    if not path.is_file():
        return absent
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read ({error}); get the model again") from error
