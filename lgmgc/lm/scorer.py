"""The scorer: windows of token ids through a causal language model, boundary scores out."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import Cache, DynamicCache, PreTrainedModel

from lgmgc.lm.attention import NAME, Packing
from lgmgc.lm.head import Head
from lgmgc.lm.layout import packed, padded
from lgmgc.lm.tiles import TILE, tile
from lgmgc.lm.windows import Encoder, OutOfMemoryError, ScoreArray, TokenWindow


@dataclass(slots=True)
class Counters:
    """What the model was asked for.

    Attributes:
        calls: forward passes.
        windows: windows scored.
        tokens: tokens read, ρ included where it was read again, padding not.
        padding: token places that held nothing.
        rows: rows of logits computed, one for each sentence end.
        seconds: time spent in forward passes.
    """

    calls: int = 0
    windows: int = 0
    tokens: int = 0
    padding: int = 0
    rows: int = 0
    seconds: float = 0.0


class Scorer:
    """A loaded causal language model that turns windows into boundary scores.

    Only the backbone is run; the hidden rows at sentence ends are gathered before the output
    layer, so that no logits are made for other places. Windows lie packed end to end where the
    architecture's attention allows it, else padded on the right.

    Law 4: packed on the CPU, a window's scores are the same bits whatever shares its batch.

    Attributes:
        encode: the tokenizer.
        context: tokens of text that one window may hold beside ρ.
        prefix_length: the tokens of ρ.
        packed: whether windows lie end to end.
        counters: what was asked for so far.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        encode: Encoder,
        head: Head,
        *,
        context: int,
        prefix: Sequence[int] = (),
        prefix_cache: bool = True,
    ) -> None:
        """Put the parts together; `lgmgc.lm.load.load_scorer` finds them.

        Args:
            model: in evaluation mode, on its device; its attention is `lgmgc.lm.attention`'s where
                windows are to be packed.
            encode: texts to ids.
            head: the output layer for the [EOS] set.
            context: positions the model has, those of ρ included.
            prefix: the ids of ρ, with the document-begin token where the model needs one.
            prefix_cache: whether ρ's keys and values are computed once and shared; ρ is read again
                with every window otherwise. The scores are the same up to rounding.
        """
        self.encode = encode
        self.context = context - len(prefix)
        self.prefix_length = len(prefix)
        self.packed = model.config._attn_implementation == NAME
        self.counters = Counters()
        self._backbone = model.base_model
        self._config = model.config.get_text_config()
        self._head = head
        embedded = model.get_input_embeddings().weight
        assert isinstance(embedded, torch.Tensor)
        self._device = embedded.device
        self._prefix = np.asarray(prefix, np.int64)
        # A single token is read again for less than sharing it costs.
        self._cached = prefix_cache and len(prefix) > 1
        self._keys: Cache | None = None
        # transformers renamed the argument within version 5.
        names = inspect.signature(self._backbone.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        self._tile = 1
        if self.packed and self._device.type == "cpu":
            self._tile = TILE
            tile(self._backbone)

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        """The boundary score log p([EOS]) after every sentence of every window, in one pass.

        Args:
            windows: each within ``context``.

        Returns:
            For each window, shape (sentences,), natural logarithms; NaN where nothing but white
            space came before a sentence's end.

        Raises:
            OutOfMemoryError: the batch is too large for the device.
        """
        began = time.perf_counter()
        sentences = [len(window.ends) for window in windows]
        ends = np.concatenate([window.ends for window in windows])
        try:
            scores = self._forward([window.ids for window in windows], sentences, ends)
        except RuntimeError as error:  # torch.OutOfMemoryError is one; the CPU's has no class
            if isinstance(error, torch.OutOfMemoryError) or "can't allocate" in str(error):
                raise OutOfMemoryError(str(error)) from None
            raise
        scores[ends == 0] = np.nan
        self.counters.windows += len(windows)
        self.counters.rows += len(ends)
        self.counters.seconds += time.perf_counter() - began
        return np.split(scores, np.cumsum(sentences)[:-1])

    @torch.inference_mode()
    def _forward(
        self, texts: Sequence[NDArray[np.int32]], sentences: Sequence[int], ends: NDArray[np.int64]
    ) -> ScoreArray:
        if self._cached:
            ids = [text.astype(np.int64) for text in texts]
        else:
            ids = [np.concatenate((self._prefix, text)) for text in texts]
        layout = packed(ids, self._tile) if self.packed else padded(ids)
        keys = self._shared_keys(len(layout.ids)) if self._cached else None
        shared, before = (self.prefix_length, 0) if self._cached else (0, self.prefix_length)
        hidden = self._hidden(layout.ids, layout.positions, layout.lengths, shared, keys)
        places = np.repeat(layout.starts, sentences) + before + ends - 1
        self.counters.tokens += sum(layout.lengths)
        self.counters.padding += layout.ids.size - sum(layout.lengths)
        # Where a window begins with white space there is no row; `score` says NaN there.
        rows = torch.from_numpy(np.maximum(places, 0)).to(hidden.device)
        scores: ScoreArray = self._head(hidden.flatten(0, 1)[rows]).double().cpu().numpy()
        return scores

    def _hidden(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        lengths: tuple[int, ...],
        shared: int,
        keys: Cache | None,
    ) -> torch.Tensor:
        """One pass of the backbone over tokens that stand behind ``shared`` others.

        Returns:
            Shape (rows, columns, hidden).
        """
        self.counters.calls += 1
        extra: dict[str, Any] = {self._cache_name: keys} if keys is not None else {}
        if self.packed:
            extra["packing"] = Packing(lengths, shared)
        hidden: torch.Tensor = self._backbone(
            input_ids=torch.from_numpy(ids).to(self._device),
            position_ids=torch.from_numpy(positions + shared).to(self._device),
            use_cache=keys is not None,
            **extra,
        ).last_hidden_state
        return hidden

    def _shared_keys(self, rows: int) -> Cache:
        """ρ's keys and values, computed once, in a copy that a batch may append to."""
        if self._keys is None:
            # Told of sliding windows, a cache forgets keys before them; ours needs all to mask.
            self._keys = DynamicCache(config=None if self.packed else self._config)
            positions = np.arange(self.prefix_length)[None]
            self._hidden(self._prefix[None], positions, (self.prefix_length,), 0, self._keys)
            self.counters.tokens += self.prefix_length
        keys = copy.deepcopy(self._keys)
        keys.batch_repeat_interleave(rows)
        return keys
