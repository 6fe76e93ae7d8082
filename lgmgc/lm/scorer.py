"""The scorer: windows of token ids through a causal language model, boundary scores out."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import Cache, DynamicCache, PreTrainedModel

from lgmgc.lm.attention import NAME, Packing, cache_name
from lgmgc.lm.branches import branch_out
from lgmgc.lm.head import Head
from lgmgc.lm.layout import packed, padded
from lgmgc.lm.memory import telling_memory
from lgmgc.lm.onednn import lay_out
from lgmgc.lm.signals import signals_of, spans_of_sentences, tokens_read
from lgmgc.lm.tiles import grain, tile
from lgmgc.lm.topic import Depth, topic_shift
from lgmgc.lm.windows import Encoder, ScoreArray, TokenWindow


@dataclass(slots=True)
class Counters:
    """What the model was asked for.

    Attributes:
        calls: forward passes.
        windows: windows scored.
        tokens: tokens read, ρ included where it was read again, padding not.
        padding: token places that held nothing.
        rows: rows of logits computed, one for each sentence end and each token weighed.
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
        self._depth = Depth(self._backbone, self._config.num_hidden_layers)
        embedded = model.get_input_embeddings().weight
        assert isinstance(embedded, torch.Tensor)
        self._device = embedded.device
        self._prefix = np.asarray(prefix, np.int64)
        # A single token is read again for less than sharing it costs.
        self._cached = prefix_cache and len(prefix) > 1
        self._keys: Cache | None = None
        self._cache_name = cache_name(self._backbone)
        self._grain = 1
        if self.packed and self._device.type == "cpu":
            lay_out(self._backbone)
            self._grain = grain(self._backbone)
            tile(self._backbone)

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        """Every signal asked for of every sentence of every window, in one pass.

        Args:
            windows: each within ``context``.

        Returns:
            For each window, shape (signals, sentences), see `lgmgc.lm.requests.Signal`; NaN where
            nothing but white space came before a sentence's end.

        Raises:
            OutOfMemoryError: the batch is too large for the device.
        """
        began = time.perf_counter()
        with telling_memory():
            scores = self._forward(windows)
        self.counters.windows += len(windows)
        self.counters.seconds += time.perf_counter() - began
        return scores

    @torch.inference_mode()
    def _forward(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        if self._cached:
            ids = [window.ids.astype(np.int64) for window in windows]
        else:
            ids = [np.concatenate((self._prefix, window.ids)) for window in windows]
        layout = packed(ids, self._grain) if self.packed else padded(ids)
        keys = self._shared_keys(len(layout.ids)) if self._cached else None
        shared, before = (self.prefix_length, 0) if self._cached else (0, self.prefix_length)
        self._depth.keep = any("topic" in window.signals for window in windows)
        hidden = self._hidden(layout.ids, layout.positions, layout.lengths, shared, keys)
        deep, self._depth.hidden = self._depth.hidden, None
        self.counters.tokens += sum(layout.lengths)
        self.counters.padding += layout.ids.size - sum(layout.lengths)

        starts = layout.starts + before  # of each window's text in the flattened rows
        scores = []
        read = self._read(hidden.flatten(0, 1), windows, starts)
        for start, window, (eos, log_p) in zip(starts, windows, read, strict=True):
            topic = None
            if deep is not None and "topic" in window.signals:
                states = deep.flatten(0, 1)[start : start + len(window.ids)]
                topic = topic_shift(states, spans_of_sentences(window))
            scores.append(signals_of(window, eos, log_p, topic))
        return scores

    def weigh(self, prompt: Sequence[int], options: Sequence[Sequence[int]]) -> ScoreArray:
        """How likely each way to go on is, in one pass over the prompt.

        ρ is not read. What options share is read once; where windows can be packed, what differs
        goes on from the prompt's end side by side.

        Args:
            prompt: token ids, at least one.
            options: token ids, none of them the beginning of another.

        Returns:
            Shape (options,), log p, natural logarithm.

        Raises:
            OutOfMemoryError: the prompt is too long for the device.
        """
        began = time.perf_counter()
        with telling_memory():
            weights = self._weigh(prompt, options)
        self.counters.seconds += time.perf_counter() - began
        return weights

    @torch.inference_mode()
    def _weigh(self, prompt: Sequence[int], options: Sequence[Sequence[int]]) -> ScoreArray:
        trunk, branches, steps = branch_out(options)
        stem = np.asarray([*prompt, *trunk], np.int64)
        arms = [np.asarray(branch, np.int64) for branch in branches]
        if self.packed:
            layout = packed([stem, *arms], self._grain)
            first = layout.starts[1:]
            inside = slice(len(stem), sum(layout.lengths))
            layout.positions[0, inside] += len(stem)
        else:
            layout = padded([np.concatenate((stem, arm)) for arm in arms] or [stem])
            first = layout.starts + len(stem)
        hidden = self._hidden(
            layout.ids, layout.positions, layout.lengths, 0, None, branches=self.packed
        ).flatten(0, 1)
        self.counters.tokens += sum(layout.lengths)
        self.counters.padding += layout.ids.size - sum(layout.lengths)
        taken = [step for option in steps for step in option]
        rows = [
            len(stem) - 1 if step.branch < 0 else int(first[step.branch]) + step.place
            for step in taken
        ]
        self.counters.rows += len(rows)
        targets = torch.tensor([step.token for step in taken])
        log_p = self._head.log_p(hidden[torch.tensor(rows).to(hidden.device)], targets)[:, 1]
        ends = np.cumsum([len(option) for option in steps])
        made = log_p.double().cpu().numpy()
        return np.array([part.sum() for part in np.split(made, ends[:-1])])

    def _read(
        self, hidden: torch.Tensor, windows: Sequence[TokenWindow], starts: NDArray[np.int64]
    ) -> Iterator[tuple[ScoreArray, ScoreArray]]:
        """Log p([EOS]) after each sentence, and of the tokens asked for, of each window.

        Args:
            hidden: shape (rows, hidden), the final normed states.
            windows: what was read.
            starts: the row of each window's first token.

        Yields:
            Shapes (sentences,) and (length,), the latter with NaN where it was not asked for.
        """
        # Where a window begins with white space there is no row; `signals_of` says NaN there.
        ends = [np.maximum(window.ends, 1) - 1 for window in windows]
        tokens = [tokens_read(window) for window in windows]
        rows = np.concatenate([
            start + np.concatenate((end, token - 1))
            for start, end, token in zip(starts, ends, tokens, strict=True)
        ])  # fmt: skip
        targets = np.concatenate([
            np.concatenate((np.zeros(len(end), np.int64), window.ids[token]))
            for window, end, token in zip(windows, ends, tokens, strict=True)
        ])  # fmt: skip
        self.counters.rows += len(rows)
        # The last window may be empty, and its only row then one past the end.
        chosen = hidden[torch.from_numpy(rows.clip(max=len(hidden) - 1)).to(hidden.device)]
        if any(map(len, tokens)):
            made = self._head.log_p(chosen, torch.from_numpy(targets)).double().cpu().numpy()
        else:
            made = self._head(chosen).double().cpu().numpy()[:, None]
        place = 0
        for window, end, token in zip(windows, ends, tokens, strict=True):
            log_p = np.full(len(window.ids), np.nan)
            middle, stop = place + len(end), place + len(end) + len(token)
            log_p[token] = made[middle:stop, -1]
            yield made[place:middle, 0], log_p
            place = stop

    def _hidden(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        lengths: tuple[int, ...],
        shared: int,
        keys: Cache | None,
        branches: bool = False,
    ) -> torch.Tensor:
        """One pass of the backbone over tokens that stand behind ``shared`` others.

        Returns:
            Shape (rows, columns, hidden).
        """
        self.counters.calls += 1
        extra: dict[str, Any] = {self._cache_name: keys} if keys is not None else {}
        if self.packed:
            extra["packing"] = Packing(lengths, shared, branches)
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
