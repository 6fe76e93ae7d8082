"""Sizes of text in words, characters or tokens.

Law 2 rests on one property of words and characters: the size of a text is at most the sum of the
sizes of its pieces, so that a run of sentences whose sizes add up to at most θ is at most θ. Tokens
do not have it, and a run that fits by its sum is counted again as one text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["words", "tokens", "characters"]
IntArray = NDArray[np.int64]
Measure = Callable[[Sequence[str]], IntArray]
"""Texts in, one size each out, in one unit."""

# Scripts written without spaces between words: kana, Han with its extensions.
_CJK = (
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CJK_MARKS = (
    "\u3001-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\u2018-\u201d\u2026"
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
WORD = re.compile(rf"[{_CJK}][{_CJK_MARKS}]*|[^\s{_CJK}]+")


def count_words(text: str) -> int:
    """Words: what stands between white space, and each CJK character as one.

    Punctuation and variation selectors after a CJK character belong to it.

    >>> count_words("Two words."), count_words("今天天气很好。"), count_words("iPhone手机 x")
    (2, 6, 4)
    """
    if text.isascii():
        return len(text.split())
    return len(WORD.findall(text))


def measure_words(texts: Sequence[str]) -> IntArray:
    """The size of each text in words."""
    return np.fromiter(map(count_words, texts), np.int64, len(texts))


def measure_characters(texts: Sequence[str]) -> IntArray:
    """The size of each text in Unicode code points."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def measure_bytes(texts: Sequence[str]) -> IntArray:
    """The size of each text in bytes of UTF-8: the most tokens it can have."""
    return np.fromiter((len(text.encode()) for text in texts), np.int64, len(texts))


def measure_tokens(encode: Callable[[Sequence[str]], Sequence[Sequence[int]]]) -> Measure:
    """A measure that counts what a tokenizer makes of each text by itself.

    Args:
        encode: texts to token ids, without special tokens.
    """
    return lambda texts: np.fromiter(map(len, encode(texts)), np.int64, len(texts))
