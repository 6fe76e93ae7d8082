"""The writer: short greedy generations by a local model."""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    DynamicCache,
    EncoderDecoderCache,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from lgmgc.errors import ModelError, UsageError
from lgmgc.lm.attention import NAME, Packing, cache_name
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.eos import DOCUMENT_ENDS, special_ids
from lgmgc.lm.load import LoadedModel, configured_eos, load_scorer, open_network, positions
from lgmgc.lm.locate import locate
from lgmgc.lm.machine import choose_device, choose_precision
from lgmgc.lm.memory import telling_memory
from lgmgc.lm.prompt import prefix_ids
from lgmgc.lm.quiet import quiet
from lgmgc.lm.scorer import Scorer
from lgmgc.lm.store import default_cache
from lgmgc.lm.tokenizer import load_tokenizer
from lgmgc.lm.windows import OutOfMemoryError, ScoreArray

_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")
"""A GGUF file's configuration names one end token, often only the document's."""

_SYSTEM, _USER = "\ue5f0", "\ue5f1"
"""Where the texts go in a rendered chat template; private characters, which none contains."""

_NO_CLOCK = "{% macro strftime_now(format) %}26 Jul 2024{% endmacro %}"
"""Hides the clock from templates that give today's date (law 4); the day is Llama 3's default."""


@dataclass(slots=True)
class WriterCounters:
    """What the model was asked for.

    Attributes:
        calls: texts begun.
        prompt_tokens: tokens read, those of the chat format included.
        written_tokens: tokens chosen, end tokens included.
        seconds: time spent in the model.
    """

    calls: int = 0
    prompt_tokens: int = 0
    written_tokens: int = 0
    seconds: float = 0.0


class Writer:
    """A loaded model that continues a text with the likeliest token, again and again.

    It may share its network with a `lgmgc.lm.scorer.Scorer` and be used in turn with it: it runs
    the attention that it finds, packed attention with its own text as the only window.

    Law 4: the same prompt is answered with the same text. Nothing else is in the batch, and what a
    chat template says of today's date is always the same date.

    Attributes:
        name: of the model.
        context: tokens that the prompt and what is written may have together; of an
            encoder-decoder, each of them.
        counters: what was asked for so far.
    """

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        name: str,
        scorer: Scorer | None = None,
    ) -> None:
        """Put the parts together; `load_writer` and `writer_of` find them.

        Args:
            network: in evaluation mode, on its device; causal, or an encoder-decoder.
            tokenizer: its own.
            name: for messages.
            scorer: on the same network; needed to `weigh`.

        Raises:
            ModelError: an encoder-decoder that does not say how its answers begin.
        """
        self.name = name
        self.context = positions(network)
        self.counters = WriterCounters()
        self._network = network
        self._scorer = scorer
        self._tokenizer = tokenizer
        self._encode = FastEncoder(tokenizer.backend_tokenizer)
        known = {*configured_eos(network), tokenizer.eos_token_id} - {None}
        self._ends = known | special_ids((*DOCUMENT_ENDS, *_TURN_ENDS), tokenizer)
        embedded = network.get_input_embeddings().weight
        assert isinstance(embedded, torch.Tensor)
        self._device = embedded.device
        self._cache_name = cache_name(network)
        names = inspect.signature(network.forward).parameters
        self._keeps = {"logits_to_keep": 1} if "logits_to_keep" in names else {}
        self._start: int | None = None
        if network.config.is_encoder_decoder:
            settings = (network.generation_config, network.config)
            starts = [getattr(config, "decoder_start_token_id", None) for config in settings]
            self._start = next((k for k in starts if k is not None), None)
            if self._start is None:
                raise ModelError(f"{name} names no decoder_start_token_id in its configuration")

    def write(self, instruction: str, most: int, *, system: str = "", begin: str = "") -> str:
        """The model's answer, up to the end that it sets itself.

        Args:
            instruction: the user's turn in the model's chat format; the text to be continued on a
                new line by a model without one; what an encoder reads. It may hold anything: what
                looks like a special token is read as the text that it is.
            most: tokens to write.
            system: the system's turn; put before the instruction where there is none.
            begin: how the answer begins; not part of the result.

        Returns:
            The text without special tokens, and without a last code point that is not whole.

        Raises:
            UsageError: the prompt and ``most`` do not fit in the model's context.
            ModelError: the memory is too small, or the chat template cannot be used.
        """
        return "".join(self.stream(instruction, most, system=system, begin=begin))

    def stream(
        self, instruction: str, most: int, *, system: str = "", begin: str = ""
    ) -> Iterator[str]:
        """What `write` gives, in pieces of whole code points, each as soon as it is there.

        The model runs only while a piece is asked for, so a caller may stop at any piece.
        """
        prompt, [first] = self._prompt(instruction, system), self._encode([begin])
        if self._start is None:
            prompt, together = prompt + first, len(prompt) + len(first) + most
        else:
            together = max(len(prompt), len(first) + most + 1)
        if together > self.context:
            raise self._too_long(len(prompt), most)
        self.counters.calls += 1
        self.counters.prompt_tokens += len(prompt)
        return self._pieces(prompt, first, most)

    def weigh(self, instruction: str, begin: str, options: Sequence[str]) -> ScoreArray:
        """How likely the model's answer is to go on in each way, in one pass.

        Args:
            instruction: as in `write`.
            begin: how the answer begins.
            options: how it may go on; none of them the beginning of another.

        Returns:
            Shape (options,), log p, natural logarithm; what all have in common left out.

        Raises:
            UsageError: the prompt does not fit in the model's context.
            ModelError: an encoder-decoder, or the memory is too small.
        """
        if self._scorer is None:
            raise ModelError(f"{self.name} cannot weigh answers; choose a causal language model")
        prompt = self._prompt(instruction, "")
        answers = self._encode([begin + option for option in options])
        longest = max(map(len, answers))
        if len(prompt) + longest > self.context:
            raise self._too_long(len(prompt), longest)
        try:
            return self._scorer.weigh(prompt, answers)
        except OutOfMemoryError:
            raise self._too_large() from None

    def count(self, text: str) -> int:
        """The tokens of a text by itself."""
        return len(self._encode([text])[0])

    def prompt_length(self, instruction: str, system: str = "") -> int:
        """The tokens of a prompt, those of the chat format included."""
        return len(self._prompt(instruction, system))

    def _prompt(self, instruction: str, system: str) -> list[int]:
        if self._start is None and self._tokenizer.chat_template:
            texts = {_SYSTEM: system, _USER: instruction}
            pieces = re.split(f"([{_SYSTEM}{_USER}])", self._frame(bool(system)))
            ids: list[int] = []
            for piece in pieces:
                if piece in texts:
                    ids += self._encode([texts[piece]])[0]
                else:
                    ids += self._tokenizer.encode(piece, add_special_tokens=False)
            return ids
        text = f"{system}\n\n{instruction}" if system else instruction
        before = prefix_ids("", "raw", self._tokenizer)
        if self._start is None:
            return [*before, *self._encode([f"{text}\n"])[0]]
        return [*before, *self._encode([text])[0], *self._tokenizer.encode("")[len(before) :]]

    def _frame(self, system: bool) -> str:
        """The chat template, rendered with `_SYSTEM` and `_USER` for the texts."""
        wanted = (_SYSTEM, _USER) if system else (_USER,)
        apart = [{"role": "system", "content": _SYSTEM}] if system else []
        for messages in (
            [*apart, {"role": "user", "content": _USER}],
            [{"role": "user", "content": "\n\n".join(wanted)}],
        ):
            try:
                text = self._tokenizer.apply_chat_template(
                    messages,
                    chat_template=_NO_CLOCK + self._tokenizer.get_chat_template(),
                    add_generation_prompt=True,
                    tokenize=False,
                    enable_thinking=False,  # Qwen 3 and others would spend `most` on it
                )
            except Exception:  # a template refuses, or stumbles, in any way
                continue
            assert isinstance(text, str)
            if all(text.count(place) == 1 for place in wanted):
                return text
        raise ModelError(f"the chat template of {self.name} cannot hold one question")

    def _pieces(self, prompt: list[int], first: list[int], most: int) -> Iterator[str]:
        written: list[int] = []
        given = ""
        for token in self._tokens(prompt, first, most):
            written.append(token)
            text = self._tokenizer.decode(
                written, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            assert isinstance(text, str)
            # The bytes of a code point may come in several tokens; until then they decode to this.
            whole = text.rstrip("\ufffd")
            if len(whole) > len(given):
                yield whole[len(given) :]
                given = whole

    def _tokens(self, prompt: list[int], first: list[int], most: int) -> Iterator[int]:
        """The likeliest tokens, without the end token."""
        network, seen = self._network, 0
        packed = network.config._attn_implementation == NAME
        # Told of sliding windows, a cache forgets keys before them; packed attention masks them.
        caches = [DynamicCache(config=None if packed else network.config) for _ in "ab"]
        more: dict[str, Any] = {self._cache_name: caches[0]} | self._keeps
        ids, name = prompt, "input_ids"
        if self._start is not None:
            more |= {self._cache_name: EncoderDecoderCache(*caches), "input_ids": self._row(prompt)}
            ids, name = [self._start, *first], "decoder_input_ids"
        for _ in range(most):
            if packed:
                more["packing"] = Packing((len(ids),), seen)
            token, encoded = self._next({name: self._row(ids)} | more)
            if token in self._ends:
                return
            yield token
            if encoded is not None:
                more = {self._cache_name: more[self._cache_name], "encoder_outputs": (encoded,)}
            seen += len(ids)
            ids = [token]

    @torch.inference_mode()
    def _next(self, given: dict[str, Any]) -> tuple[int, torch.Tensor | None]:
        """The likeliest token, and what the encoder said where there is one."""
        began = time.perf_counter()
        try:
            with telling_memory():
                out = self._network(**given, use_cache=True)
                token = int(out.logits[0, -1].argmax())
        except OutOfMemoryError:
            raise self._too_large() from None
        self.counters.written_tokens += 1
        self.counters.seconds += time.perf_counter() - began
        return token, getattr(out, "encoder_last_hidden_state", None)

    def _too_long(self, prompt: int, most: int) -> UsageError:
        return UsageError(
            f"a prompt of {prompt} tokens and {most} to write do not fit in the "
            f"{self.context} that {self.name} holds; give it less text"
        )

    def _too_large(self) -> ModelError:
        return ModelError(
            f"the memory is too small for {self.name} to write; give it less text, or "
            "choose a smaller model"
        )

    def _row(self, ids: list[int]) -> torch.Tensor:
        return torch.tensor([ids], device=self._device)


def writer_of(loaded: LoadedModel) -> Writer:
    """A writer on the network of a scorer, so that the weights are in memory once."""
    return Writer(loaded.network, loaded.tokenizer, loaded.name, loaded.scorer)


def load_writer(
    model: str | None = None,
    *,
    cache: Path | None = None,
    device: str = "auto",
    precision: str = "auto",
) -> Writer:
    """Load a model from this machine's disk, to write.

    A causal model is loaded as a scorer is, so that it writes the same as beside one.

    Args:
        model: see `lgmgc.lm.locate.locate`; a folder may hold an encoder-decoder such as T5.
        cache: where models are kept; None for the default.
        device: ``auto``, ``cuda`` or ``cpu``.
        precision: ``auto``, ``int8``, ``int4``, ``bf16`` or ``fp32``.

    Raises:
        ModelError: one sentence that says what is wrong and how to mend it.
    """
    located = locate(model, cache or default_cache())
    if not _is_encoder_decoder(located.folder):
        return writer_of(load_scorer(located, device=device, precision=precision))
    device = choose_device(device)
    precision = choose_precision(precision, device)
    with quiet():
        tokenizer = load_tokenizer(located.folder)
        network = open_network(located, device, precision, AutoModelForSeq2SeqLM)
    return Writer(network, tokenizer, located.name)


def _is_encoder_decoder(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return bool(config.get("is_encoder_decoder"))
    except (OSError, ValueError, AttributeError):
        return False  # the loader says what is wrong with it
