"""Chunks of a fixed size, whatever the text says: what everything else is compared with."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.words import grapheme_end, grapheme_ends, word_bounds
from lgmgc.document import Document
from lgmgc.text.divide import divide
from lgmgc.text.sizes import measure_characters
from lgmgc.text.table import Limit, Sentences

Spans = Iterator[tuple[int, int]]

_QUICK = 4
"""Guesses by proportion, before halving makes sure that there are few."""


def fixed(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Fill each chunk up to θ with words, or with graphemes where θ counts characters.

    A word longer than θ is divided as a sentence would be (law 2). With ``overlap`` a chunk begins
    with the last words of the one before, as many as are within ``overlap``, and still ends behind
    it (law 3): then chunks do not tile the text. There is none that repeats only.

    Args:
        sentences: the document's; only the text and θ are read.
        options: ``overlap``, less than θ.
        document: not needed.
    """
    limit = sentences.limits[0]
    if limit.measure is measure_characters:
        spans = of_graphemes(sentences.text, limit.most, options.overlap)
    else:
        spans = of_words(sentences.text, limit, options.overlap)
    return Segmentation([Parent(start, end) for start, end in spans])
    yield  # a generator like the others


def of_graphemes(text: str, most: int, overlap: int) -> Spans:
    r"""Spans of as many whole graphemes as ``most`` code points hold.

    >>> list(of_graphemes("abcde\u0301f", 3, 1))
    [(0, 3), (2, 4), (3, 6), (6, 7)]
    """
    start = 0
    while start < len(text):
        reach = min(start + most, len(text))
        ends = grapheme_ends(text, start, reach) or [reach]
        end = ends[-1]
        yield start, end
        if end == len(text):
            return
        # The next chunk has to hold the next grapheme, or it would not end behind this one.
        following = grapheme_end(text, end, min(end + most, len(text)))
        start = ends[bisect_left(ends, max(end - overlap, following - most))]


def of_words(text: str, limit: Limit, overlap: int) -> Spans:
    """Spans of as many whole words as are within a limit.

    A chunk is measured as one text, for the tokens of words add up to more than those of the chunk:
    the white space behind a word is a token by itself, and part of the next word's in the text.

    >>> from lgmgc.text.sizes import measure_words
    >>> list(of_words("a b c d e", Limit(measure_words, 3), 1))
    [(0, 6), (4, 9)]
    """
    words = _Words(text, word_bounds(text).tolist(), limit)
    start = first = 0  # `start` lies in the word `first`
    known, guess = 0, limit.most
    while start < len(text):
        count = words.ahead(start, first, known, guess)
        if not count:
            pieces = divide(text, start, words.bounds[first + 1], limit.fits)
            for end in pieces[:-1] or pieces:  # what is left is filled up with the next words
                yield start, end
                start = end
            first += start == words.bounds[first + 1]
            known = 0
            continue
        end = words.bounds[first + count]
        yield start, end
        if end == len(text):
            return
        again = words.behind(first + count, count - 1, overlap) if overlap else 0
        first += count - again
        start = words.bounds[first]
        known, guess = (again + 1 if again else 0), count


def longest(size: Callable[[int], int], most: int, low: int, high: int, guess: int) -> int:
    """The largest number in ``low`` … ``high`` whose size is at most ``most``; few are measured.

    Args:
        size: rises with the number, about in proportion to it.
        most: the limit.
        low: a number that is known to be within it.
        high: the last number that there is.
        guess: what to try first.

    >>> longest(lambda n: 3 * n, 100, 0, 10**6, 7)
    33
    """
    over = high + 1
    tries = 0
    while over - low > 1:
        probe = min(max(guess, low + 1), over - 1)
        found = size(probe)
        if found > most:
            over = probe
        else:
            low = probe
        tries += 1
        if tries < _QUICK:
            guess = probe * most // max(found, 1)
        else:
            guess = (low + over) // 2 if over <= high else 2 * low
    return low


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text, measured in runs.

    Attributes:
        text: the document's.
        bounds: word k is ``text[bounds[k]:bounds[k + 1]]``.
        limit: of a chunk.
    """

    text: str
    bounds: list[int]
    limit: Limit

    def ahead(self, start: int, first: int, known: int, guess: int) -> int:
        """How many words fit from ``start``, in the word ``first``; ``known`` of them do."""
        high = len(self.bounds) - 1 - first
        return longest(
            lambda n: self._size(start, self.bounds[first + n]),
            self.limit.most,
            known,
            high,
            guess,
        )

    def behind(self, stop: int, high: int, overlap: int) -> int:
        """How many words before ``stop`` are within ``overlap``, and in θ with the one after."""

        def size(n: int) -> int:
            return self._size(self.bounds[stop - n], self.bounds[stop])

        def with_next(n: int) -> int:
            return self._size(self.bounds[stop - n], self.bounds[stop + 1])

        count = longest(size, overlap, 0, high, overlap)
        return longest(with_next, self.limit.most, 0, count, count)

    def _size(self, start: int, end: int) -> int:
        return int(self.limit.measure([self.text[start:end]])[0])
