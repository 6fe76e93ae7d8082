"""A chunker with the models that its method asks, from this machine's disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lgmgc.chunkers.chunker import Chunker, Settings

if TYPE_CHECKING:  # these import torch
    from lgmgc.lm.embedder import Embedder
    from lgmgc.lm.load import LoadedModel
    from lgmgc.lm.writer import Writer


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which models, and how they are held. See `lgmgc.lm.load.load_scorer`.

    Attributes:
        model: the language model; None for the environment's LGMGC_MODEL, else the catalogue's.
        embedder: None for the environment's LGMGC_EMBEDDER, else the catalogue's.
        prompt: ρ.
        template: ``raw`` or ``chat``.
        eos: what [EOS] is made of.
        device: ``auto``, ``cuda`` or ``cpu``.
        precision: ``auto``, ``int8``, ``int4``, ``bf16`` or ``fp32``.
        batch_tokens: token places of a batch; None for the device's default.
        cache: where models are kept; None for the default.
    """

    model: str | None = None
    embedder: str | None = None
    prompt: str = ""
    template: str = "raw"
    eos: Sequence[str] = ()
    device: str = "auto"
    precision: str = "auto"
    batch_tokens: int | None = None
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class LoadedModels:
    """What was loaded.

    Attributes:
        loaded: the language model with its scorer; None where none was needed.
        writer: on the same network, or an encoder-decoder.
        embedder: of texts.
        batch_tokens: token places of a batch.
    """

    loaded: LoadedModel | None = None
    writer: Writer | None = None
    embedder: Embedder | None = None
    batch_tokens: int = 4096

    @property
    def tokens_read(self) -> int:
        """Tokens that the language model read or wrote so far."""
        read = self.loaded.scorer.counters.tokens if self.loaded else 0
        if self.writer:
            read += self.writer.counters.prompt_tokens + self.writer.counters.written_tokens
        return read

    @property
    def identity(self) -> dict[str, object]:
        """Which models these are, for manifests; weights are read for their sha256."""
        return {
            "model": _model(self.loaded) if self.loaded else None,
            "embedder": _embedder(self.embedder) if self.embedder else None,
        }

    @property
    def description(self) -> str:
        """Which models these are and where they run, in one line; empty where there is none."""
        told = []
        if self.loaded:
            told.append(
                f"{self.loaded.name} in {self.loaded.precision} on {self.loaded.device}, from "
                f"{self.loaded.source}"
            )
        if self.embedder:
            told.append(f"embedder {self.embedder.name} ({self.embedder.identity[:12]})")
        return "; ".join(told)

    def chunker(self, settings: Settings) -> Chunker:
        """A chunker that asks these models."""
        return Chunker(
            settings,
            self.loaded.scorer if self.loaded else None,
            self.batch_tokens,
            writer=self.writer,
            embedder=self.embedder,
        )


def load_models(
    settings: Settings, choice: ModelChoice, embedder: Embedder | None = None
) -> LoadedModels:
    """Load what a method needs, and nothing else.

    Args:
        settings: name the method.
        choice: of the models.
        embedder: one that is loaded already.

    Raises:
        ModelError: a model is absent, damaged or unfit; one sentence says how to mend it.
    """
    needs = settings.plan.needs
    loaded = writer = None
    if "writer" in needs and settings.options.propositionizer:
        from lgmgc.lm.writer import load_writer

        writer = load_writer(
            choice.model, cache=choice.cache, device=choice.device, precision=choice.precision
        )
    elif "scorer" in needs or "writer" in needs or settings.unit == "tokens":
        from lgmgc.lm.load import load_scorer

        loaded = load_scorer(
            choice.model,
            cache=choice.cache,
            prompt=choice.prompt,
            template=choice.template,
            eos=choice.eos,
            device=choice.device,
            precision=choice.precision,
        )
        if "writer" in needs:
            from lgmgc.lm.writer import writer_of

            writer = writer_of(loaded)
    if "embedder" in needs and embedder is None:
        from lgmgc.lm.embedder import load_embedder

        embedder = load_embedder(choice.embedder, cache=choice.cache, device=choice.device)
    batch_tokens = choice.batch_tokens or (loaded.batch_tokens if loaded else 4096)
    return LoadedModels(loaded, writer, embedder, batch_tokens)


def _model(loaded: LoadedModel) -> dict[str, object]:
    return {
        "name": loaded.name,
        "weights_sha256": loaded.weights_sha256(),
        "precision": loaded.precision,
        "device": loaded.device,
        "eos": [{"id": number, "text": text} for number, text in loaded.eos],
        "prompt": loaded.prompt,
        "template": loaded.template,
    }


def _embedder(embedder: Embedder) -> dict[str, object]:
    return {"name": embedder.name, "identity": embedder.identity}
