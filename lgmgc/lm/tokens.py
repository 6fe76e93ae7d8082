"""A document's tokens: every sentence tokenised once, windows sliced out of the result."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from lgmgc.lm.windows import Encoder, TokenWindow
from lgmgc.text.sizes import IntArray, Measure, measure_tokens

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

    def window(self, start: int, stop: int) -> TokenWindow:
        """The sentences from ``start`` up to, not including, ``stop``.

        The first visible sentence is tokenised again without the white space before it, as at the
        beginning of a text.
        """
        first = start
        while first < stop and not self._sentences[first].strip():
            first += 1
        if first == stop:
            return TokenWindow(np.zeros(0, np.int32), np.zeros(stop - start, np.int64))
        [head] = self._encode([self._sentences[first].strip()])
        rest = self._ids[self._ends[first + 1] : self._ends[stop]]
        ends = self._ends[start + 1 : stop + 1] - self._ends[first + 1] + len(head)
        ends[: first - start] = 0
        return TokenWindow(np.concatenate((np.asarray(head, np.int32), rest)), ends)


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
