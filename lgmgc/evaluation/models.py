"""The models of an experiment: each loaded once, when it is first asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lgmgc.chunkers.load import ModelChoice
from lgmgc.evaluation.answer_cache import AnswerCache
from lgmgc.evaluation.remembered import (
    Memory,
    RememberedEmbedder,
    RememberedScorer,
    RememberedWriter,
)
from lgmgc.files.manifest import versions

if TYPE_CHECKING:  # these import torch
    from lgmgc.lm.embedder import Embedder
    from lgmgc.lm.load import LoadedModel
    from lgmgc.lm.locate import Located

RULE = 1
"""To be raised whenever this package asks a model the same and makes another answer of it."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A language model with its identity.

    Attributes:
        loaded: with its scorer.
        identity: weights, precision, libraries: what decides its answers.
    """

    loaded: LoadedModel
    identity: str


class ExperimentModels:
    """Loads models and lets them remember.

    Attributes:
        choice: how models are held; its names are the experiment's.
    """

    def __init__(self, choice: ModelChoice, cache: AnswerCache) -> None:
        self.choice = choice
        self._cache = cache
        self._language: dict[str | None, LanguageModel] = {}
        self._loaded: dict[Path, LanguageModel] = {}

    def language(self, name: str | None) -> LanguageModel:
        """The language model of a name; None for the experiment's.

        Raises:
            ModelError: it is not there, or is unfit.
        """
        name = name or self.choice.model
        if name not in self._language:
            from lgmgc.lm.locate import locate
            from lgmgc.lm.store import default_cache

            # The default may be asked for by its name too: it is loaded once.
            located = locate(name, self.choice.cache or default_cache())
            if located.folder not in self._loaded:
                self._loaded[located.folder] = self._load(located)
            self._language[name] = self._loaded[located.folder]
        return self._language[name]

    def _load(self, located: Located) -> LanguageModel:
        from lgmgc.lm.load import load_scorer

        choice = self.choice
        loaded = load_scorer(
            located,
            cache=choice.cache,
            prompt=choice.prompt,
            template=choice.template,
            eos=choice.eos,
            device=choice.device,
            precision=choice.precision,
        )
        identity = json.dumps(
            [
                RULE,
                *(loaded.weights_sha256(), loaded.precision, loaded.device, loaded.eos),
                *(loaded.prompt, loaded.template, _library_versions()),
            ]
        )
        return LanguageModel(loaded, identity)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder.

        Raises:
            ModelError: it is not there, or is unfit.
        """
        from lgmgc.lm.embedder import load_embedder

        return load_embedder(
            self.choice.embedder, cache=self.choice.cache, device=self.choice.device
        )

    @property
    def used(self) -> list[LanguageModel]:
        """The language models that were asked for so far."""
        return list(self._loaded.values())

    @property
    def used_embedder(self) -> Embedder | None:
        """The embedder, if it was asked for so far."""
        return vars(self).get("embedder")

    def count_tokens(self) -> Callable[[list[str]], list[int]]:
        """How budgets are counted: the tokens of texts, by the experiment's language model."""
        encode = self.language(None).loaded.scorer.encode
        return lambda texts: [len(ids) for ids in encode(texts)]

    def scorer(self, name: str | None) -> tuple[RememberedScorer, Memory]:
        """A scorer that counts its own cost from now on."""
        model = self.language(name)
        memory = Memory(self._cache, model.identity)
        return RememberedScorer(model.loaded.scorer, memory), memory

    def writer(self, name: str | None) -> tuple[RememberedWriter, Memory]:
        """A writer on the network of the scorer of that name."""
        from lgmgc.lm.writer import writer_of

        model = self.language(name)
        memory = Memory(self._cache, model.identity)
        return RememberedWriter(writer_of(model.loaded), memory), memory

    def remembered_embedder(self) -> tuple[RememberedEmbedder, Memory]:
        """The embedder, counting its own cost from now on."""
        memory = Memory(self._cache, self.embedder.identity)
        return RememberedEmbedder(self.embedder, memory), memory


def _library_versions() -> dict[str, str]:
    return {name: v for name, v in versions().items() if name in ("torch", "transformers")}
