"""LGMGC with a model by name: the way in from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.load import ModelChoice, load_models
from lgmgc.chunkers.options import Options
from lgmgc.text.sizes import Unit


class LGMGC(Chunker):
    """The Logits-Guided Multi-Granular Chunker.

    >>> chunker = LGMGC.from_pretrained("smollm2-135m-instruct", theta=300)  # doctest: +SKIP
    >>> for parent in chunker.chunk(text).parents:  # doctest: +SKIP
    ...     print(parent.start, parent.end, parent.score, len(parent.children))
    """

    @classmethod
    def from_pretrained(
        cls,
        model: str | None = None,
        *,
        theta: int = 300,
        unit: Unit = "words",
        method: str = "lgmgc",
        language: str = "auto",
        children: tuple[int, ...] | None = None,
        options: Options | None = None,
        embedder: str | None = None,
        prompt: str = "",
        template: str = "raw",
        eos: Sequence[str] = (),
        device: str = "auto",
        precision: str = "auto",
        batch_tokens: int | None = None,
        cache: Path | None = None,
    ) -> Self:
        """Load what a method needs from this machine's disk and make a chunker of it.

        Args:
            model: a catalogue name, a model folder, a ``.gguf`` file, or a hub id that is in the
                local Hugging Face cache; None for the environment's LGMGC_MODEL, else the small
                catalogue model.
            theta: θ, the most that a parent holds, in ``unit``.
            unit: ``words``, ``tokens`` or ``characters``.
            method: any name that ``lgmgc methods`` lists.
            language: an ISO 639 code, or ``auto`` by script.
            children: children of level 1, 2 … hold at most θ divided by these; None for the
                method's own.
            options: what the method can be told beside.
            embedder: for methods that compare vectors; a catalogue name or a folder.
            prompt: ρ, the text before the text.
            template: ``raw``, or ``chat`` for ρ as the user's turn.
            eos: tokens or ids that [EOS] is made of; empty for the model's own.
            device: ``auto``, ``cuda`` or ``cpu``.
            precision: ``auto``, ``int8``, ``int4``, ``bf16`` or ``fp32``.
            batch_tokens: token places of a batch; None for the device's default.
            cache: where models are kept; None for the default.

        Raises:
            UsageError: a setting that cannot be.
            ModelError: a model is absent, damaged or unfit; one sentence says how to mend it.
        """
        settings = Settings(method, theta, unit, language, children, options or Options())
        choice = ModelChoice(
            model, embedder, prompt, template, eos, device, precision, batch_tokens, cache
        )
        models = load_models(settings, choice)
        return cls(
            settings,
            models.loaded.scorer if models.loaded else None,
            models.batch_tokens,
            writer=models.writer,
            embedder=models.embedder,
        )
