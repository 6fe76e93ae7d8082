"""Texts to unit vectors, on this machine: what retrieval compares."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lgmgc.errors import ModelError
from lgmgc.lm.embedder_folder import digest_of, locate_embedder, prefixes_of
from lgmgc.lm.scheduler import batch_sizes
from lgmgc.lm.store import default_cache
from lgmgc.lm.windows import OutOfMemoryError, TokenArray

if TYPE_CHECKING:
    from tokenizers import Encoding

    from lgmgc.lm.embedder_folder import Prefixes
    from lgmgc.lm.embedder_network import Network

Vectors = NDArray[np.float32]

_RULE = 1
"""To be raised whenever the same files would give other vectors: it is part of `identity`."""

_AT_ONCE = 4_096
"""Texts tokenised and sorted together; bounds what is held beside the vectors (law 5)."""

_CPU_BATCH = 4_096
_CUDA_BATCH = 65_536


@dataclass(slots=True)
class EmbedderCounters:
    """What the model was asked for.

    Attributes:
        texts: texts embedded.
        tokens: tokens read, prefixes and special ones included, padding not.
        windows: rows that went through the model.
        pooled: texts longer than the limit.
        seconds: time spent, tokenising included.
    """

    texts: int = 0
    tokens: int = 0
    windows: int = 0
    pooled: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Window:
    """A row for the network.

    Attributes:
        text: which text it is of.
        ids: with special tokens and prefix.
        weight: tokens of the text in it; 1 where there is none.
    """

    text: int
    ids: TokenArray
    weight: int


class Embedder:
    """A loaded embedder.

    White space around a text is not read. A text longer than ``limit`` is not truncated: it is cut
    at tokens into as few windows as possible, as even as possible, each embedded with the prefix;
    its vector is the mean of theirs, of unit length each, weighted with the windows' tokens and
    brought to unit length again. An empty text is embedded as the model embeds an empty text. Where
    a model gives zeros, the vector is the first axis, so that no row is ever NaN.

    Law 4: two runs give the same bytes. A text's neighbours decide how far it is padded, which
    moves its vector's elements in float32 by less than 1e-6 (at most 2.2e-7 was measured) and can
    change no order but that of near ties.

    Attributes:
        name: as outputs name it.
        dimensions: of a vector.
        limit: tokens that a text may have before it is pooled over windows, beside the prefix and
            special tokens; `sys.maxsize` where the model has no limit.
        prefixes: what stands before a query and a passage.
        batch_tokens: the budget of a batch, rows times the longest one's tokens; halved when the
            device runs out of memory.
        counters: what was asked for so far.
    """

    def __init__(
        self, network: Network, name: str, folder: Path, prefixes: Prefixes, batch_tokens: int
    ) -> None:
        """Put the parts together; `load_embedder` finds them.

        Raises:
            ModelError: nothing fits beside a prefix.
        """
        self.name = name
        self.prefixes = prefixes
        self.batch_tokens = batch_tokens
        self._folder = folder
        self._network = network
        self._reserved = {
            prefix: len(network.tokenizer.encode(prefix, add_special_tokens=False))
            for prefix in (prefixes.query, prefixes.passage)
        }
        special = len(network.before) + len(network.after)
        self.limit = network.longest - special - max(self._reserved.values())
        if self.limit < 1:
            raise ModelError(
                f"{name} reads {network.longest} tokens, and its prefix takes them all"
            )
        self.dimensions = network.dimensions
        self.counters = EmbedderCounters()

    @cached_property
    def identity(self) -> str:
        """64 hexadecimal digits; vectors of two identities must not be compared.

        A hash of the weights, the configuration, the prefixes and our own rule for long texts; not
        of the device, whose rounding reorders near ties at most.

        Raises:
            ModelError: the model's files cannot be read any more.
        """
        return digest_of(self._folder, self.prefixes, _RULE)

    def passages(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> Vectors:
        """Embed texts that are to be found.

        Args:
            texts: any number, of any length.
            progress: told, after every batch, how many of the texts are done by then.

        Returns:
            Shape (texts, dimensions), rows of unit length in the order of the texts.

        Raises:
            ModelError: a single window does not fit in the device's memory, or the device's
                precision is too small for the model.
        """
        return self._embed(texts, self.prefixes.passage, progress)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are to find; otherwise as `passages`."""
        return self._embed(texts, self.prefixes.query)

    def _embed(
        self, texts: Sequence[str], prefix: str, progress: Callable[[int], None] | None = None
    ) -> Vectors:
        began = time.perf_counter()
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for first in range(0, len(texts), _AT_ONCE):
            portion = texts[first : first + _AT_ONCE]
            windows = self._windows(portion, prefix)
            left = np.bincount([window.text for window in windows], minlength=len(portion))
            self.counters.pooled += int(np.count_nonzero(left > 1))
            windows.sort(key=lambda window: -len(window.ids))
            lengths = [len(window.ids) for window in windows]
            start = 0
            while start < len(windows):
                # One batch at a time: running out of memory lowers the budget of the next.
                size = next(batch_sizes(lengths[start:], self.batch_tokens))
                batch = windows[start : start + size]
                for window, vector in zip(batch, _unit(self._run(batch, prefix)), strict=True):
                    sums[first + window.text] += window.weight * vector
                    left[window.text] -= 1
                start += size
                if progress is not None:
                    progress(first + int(np.count_nonzero(left == 0)))
        self.counters.texts += len(texts)
        self.counters.seconds += time.perf_counter() - began
        return _unit(sums)

    def _windows(self, texts: Sequence[str], prefix: str) -> list[_Window]:
        network = self._network
        # A query from a command line may hold lone surrogates, which no tokenizer takes.
        whole = [prefix + text.strip().encode("utf-8", "replace").decode() for text in texts]
        windows = []
        encodings = network.tokenizer.encode_batch(whole, add_special_tokens=False)
        for k, encoding in enumerate(encodings):
            ids = np.asarray(encoding.ids, np.int32)
            head = _tokens_before(encoding, len(prefix), self._reserved[prefix])
            body = ids[head:]
            for part in np.array_split(body, max(1, math.ceil(len(body) / self.limit))):
                row = np.concatenate((network.before, ids[:head], part, network.after))
                windows.append(_Window(k, row.astype(np.int32), max(1, len(part))))
        return windows

    def _run(self, batch: Sequence[_Window], prefix: str) -> Vectors:
        lead = len(self._network.before) + self._reserved[prefix]
        try:
            vectors = self._network([window.ids for window in batch], lead)
        except OutOfMemoryError:
            if len(batch) == 1:
                raise ModelError(
                    f"a single window of {len(batch[0].ids)} tokens does not fit in memory with "
                    f"{self.name}; choose --device cpu or a smaller model"
                ) from None
        else:
            if not np.isfinite(vectors).all():
                raise ModelError(
                    f"{self.name} gives vectors that are not finite; choose --device cpu, or get "
                    "the model again"
                )
            self.counters.windows += len(batch)
            self.counters.tokens += sum(len(window.ids) for window in batch)
            return vectors
        # Outside the handler, so that what the failed batch held is free before the next try.
        cost = len(batch) * max(len(window.ids) for window in batch)
        self.batch_tokens = max(1, min(self.batch_tokens, cost // 2))
        half = len(batch) // 2
        return np.concatenate((self._run(batch[:half], prefix), self._run(batch[half:], prefix)))


def load_embedder(
    model: str | None = None,
    *,
    cache: Path | None = None,
    device: str = "auto",
    batch_tokens: int | None = None,
) -> Embedder:
    """Find an embedder on this machine and load it; nothing is fetched (law 6).

    Args:
        model: a catalogue name, a sentence-transformers folder, or a hub id whose files are in the
            local Hugging Face cache; None for the environment's LGMGC_EMBEDDER, else the default.
        cache: where catalogue models are kept; None for the default.
        device: ``auto``, ``cuda`` or ``cpu``.
        batch_tokens: token places of a batch; None for what suits the device.

    Raises:
        ModelError: one sentence that says what is wrong and how to mend it.
    """
    located = locate_embedder(model, cache or default_cache())
    # Here, because torch and sentence-transformers take seconds to import.
    from lgmgc.lm.embedder_network import open_network
    from lgmgc.lm.machine import choose_device

    device = choose_device(device)
    return Embedder(
        open_network(located, device),
        located.name,
        located.folder,
        prefixes_of(located),
        batch_tokens or (_CUDA_BATCH if device == "cuda" else _CPU_BATCH),
    )


def _tokens_before(encoding: Encoding, characters: int, most: int) -> int:
    """The tokens of the first characters; one that reaches over their end does not count."""
    count = 0
    while count < min(most, len(encoding.ids)):
        span = encoding.token_to_chars(count)
        if span is None or span[1] > characters:
            break
        count += 1
    return count


def _unit(rows: Vectors) -> Vectors:
    """The rows brought to unit length; the first axis in place of zeros."""
    unit, lengths = rows.copy(), np.linalg.norm(rows, axis=1)
    unit[lengths == 0, 0] = lengths[lengths == 0] = 1
    unit /= lengths[:, None]
    return unit
