"""A document's tokens: every sentence tokenised once, windows sliced out of the result."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lgmgc.lm.requests import Signal, looks_ahead
from lgmgc.lm.windows import Encoder, TokenWindow
from lgmgc.text.sizes import IntArray, Measure, measure_tokens

FIRST = 8
"""Tokens of the next sentence by which surprise is told."""
AHEAD = 32
"""Tokens of the sentence behind a window that are read for the signals that look ahead."""

_AT_ONCE = 4096  # sentences tokenised together; bounds the token ids held as Python objects


class DocumentTokens:
    r"""The token ids of a document, cut at the ends of its sentences.

    The white space between two sentences is tokenised with the second one, which is how tokenizers
    are trained to see it, and the text is cut after every sentence's last visible character. So the
    ids up to a sentence's end are those of the text that ends there, as in one pass for every
    prefix: no token (such as Llama-3's ``.\n\n``) reaches over an end and gives away that the
    text goes on.
    """

    def __init__(self, sentences: Sequence[str], encode: Encoder) -> None:
        """Tokenise.

        Args:
            sentences: the texts that tile the document, each with the white space behind it.
            encode: the tokenizer.
        """
        self._sentences = sentences
        self._encode = encode
        ids = array("i")
        lengths: list[int] = []
        pieces = _pieces(sentences)
        while portion := list(islice(pieces, _AT_ONCE)):
            for piece in encode(portion):
                ids.extend(piece)
                lengths.append(len(piece))
        self._ids = np.frombuffer(ids, np.int32) if ids else np.zeros(0, np.int32)
        self._ends: IntArray = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))

    def __len__(self) -> int:
        """The number of tokens in the document."""
        return len(self._ids)

    def window(self, start: int, stop: int, signals: tuple[Signal, ...] = ("eos",)) -> TokenWindow:
        """The sentences from ``start`` up to, not including, ``stop``.

        Behind them stands the beginning of the next one, for signals that look ahead.

        The first visible sentence is tokenised again without the white space before it, as at the
        beginning of a text.
        """
        rarity = self._rarity[start + 1 : stop + 1] if "surprise" in signals else None
        first = start
        while first < stop and not self._sentences[first].strip():
            first += 1
        if first == stop:
            nothing = np.zeros(stop - start, np.int64)
            return TokenWindow(np.zeros(0, np.int32), nothing, signals, rarity)
        [head] = self._encode([self._sentences[first].strip()])
        last = int(self._ends[stop])
        if looks_ahead(signals):
            last = self._ahead(stop)
        rest = self._ids[self._ends[first + 1] : last]
        ends = self._ends[start + 1 : stop + 1] - self._ends[first + 1] + len(head)
        ends[: first - start] = 0
        ids = np.concatenate((np.asarray(head, np.int32), rest))
        return TokenWindow(ids, ends, signals, rarity)

    @cached_property
    def _rarity(self) -> NDArray[np.float64]:
        """For each place between sentences, how rare the first tokens of what follows are.

        Their mean −log p in the document itself, every token counted once more than it occurs.
        Shape (sentences + 1,); NaN where nothing follows.
        """
        kinds, of = np.unique(self._ids, return_inverse=True)
        counts = np.bincount(of, minlength=len(kinds)) + 1
        cost = -np.log(counts / counts.sum())
        begins, ends = self._ends[:-1], self._ends[1:]
        total, count = np.zeros(len(begins)), np.zeros(len(begins))
        for k in range(FIRST):
            there = begins + k < ends
            total[there] += cost[of[begins[there] + k]]
            count += there
        own = np.divide(total, count, out=np.full(len(begins), np.nan), where=count > 0)
        rarity = np.append(own, np.nan)
        for k in range(len(rarity) - 2, -1, -1):  # over blank sentences
            if np.isnan(rarity[k]):
                rarity[k] = rarity[k + 1]
        return rarity

    def _ahead(self, stop: int) -> int:
        """Where to stop reading the first sentence from ``stop`` on that holds anything."""
        first = int(self._ends[stop])
        after = int(np.searchsorted(self._ends, first, side="right"))
        if after == len(self._ends):
            return first
        return min(int(self._ends[after]), first + AHEAD)


def measure_in_window(encode: Encoder) -> Measure:
    r"""A measure of what each of consecutive sentences adds to a window, at most.

    That is more than its tokens by itself where a token would reach over its end (Llama-3 makes
    one of ``.\n\n``, a window two), or where white space is cut otherwise before a word than at a
    text's end.
    """
    count = measure_tokens(encode)

    def measure(sentences: Sequence[str]) -> IntArray:
        first = [sentence.strip() for sentence in sentences]  # as the first of a window
        return np.maximum(count(first), count(list(_pieces(sentences))))

    return measure


def _pieces(sentences: Iterable[str]) -> Iterator[str]:
    """Each sentence's visible text with the white space before it."""
    space = ""
    for sentence in sentences:
        visible = sentence.rstrip()
        yield space + visible if visible else ""
        space = sentence[len(visible) :] if visible else space + sentence
