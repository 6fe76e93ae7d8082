"""Text as FTS5 is given it, and a user's words as a query that it always understands.

FTS5's own tokenizer makes one token of a run of letters, which is a word where words are spaced,
and a whole clause in Chinese and Japanese. So those characters are given one by one, and searched
for in neighbouring pairs: a pair is about a word, and a phrase of two tokens to FTS5.
"""

from __future__ import annotations

from itertools import pairwise

import regex

# Kana and Han, as in lgmgc.text.sizes, but never to change without a new schema version: FTS5
# forgets a piece only when it is told the very tokens that it was given.
_CJK = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_CHARACTER = regex.compile(f"[{_CJK}]")
_RUN = regex.compile(rf"(?V1)[{_CJK}]+|[[\p{{L}}\p{{M}}\p{{N}}\p{{Co}}]--[{_CJK}]]+")


def spaced(text: str) -> str:
    """Put every CJK character by itself.

    >>> spaced("iPhone手机")
    'iPhone 手  机 '
    """
    return text if text.isascii() else _CHARACTER.sub(r" \g<0> ", text)


def expression(query: str) -> str:
    r"""Any text as an FTS5 query: its words, or pairs of CJK characters, one of which must occur.

    Nothing of FTS5's own syntax survives: words are quoted, and all else is left out.

    Returns:
        The query; empty when the text holds no letter or digit.

    >>> expression('NEAR("don\'t", *) 今天气 no No')
    '"NEAR" OR "don" OR "t" OR "今 天" OR "天 气" OR "no"'
    """
    words: dict[str, str] = {}
    for run in _RUN.findall(query):
        terms = [run]
        if _CHARACTER.match(run):
            terms = [f"{a} {b}" for a, b in pairwise(run)] or [run]
        for term in terms:
            words.setdefault(term.lower(), f'"{term}"')
    return " OR ".join(words.values())
