"""Passages for a reader: as many as a budget holds, numbered, and told apart from everything else.

What stands in a document may look like an instruction, a heading of ours or the end of a passage.
So each passage stands between two lines of equals signs, more of them than any passage has in a
row, and a document's name in quotes on one line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from lgmgc.text.sentences import split


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that a reader is given.

    Attributes:
        number: as it is cited, from 1.
        document: the document's id.
        start: first code point in the document.
        end: one past the last.
        score: of the hit that it came from.
        text: the document's own text from ``start`` to ``end``.
        cut: whether it ends early because the budget was too small for all of it.
    """

    number: int
    document: str
    start: int
    end: int
    score: float
    text: str = field(repr=False)
    cut: bool = False


def fit(sources: Iterable[Source], fits: Callable[[Sequence[Source]], bool]) -> list[Source]:
    """Take what a budget holds, best first; what is too long is left out, the next may still fit.

    Where none fits, the first is shortened to whole sentences, else words, else code points.

    Args:
        sources: best first; their numbers are given anew.
        fits: whether a reader can be given these.

    Returns:
        Numbered from 1; empty where there was nothing, or not even a code point fits.
    """
    given: list[Source] = []
    first: Source | None = None
    for source in sources:
        source = replace(source, number=len(given) + 1)
        first = first or source
        if fits([*given, source]):
            given.append(source)
    if given or first is None:
        return given
    shorter = _shortened(first, lambda source: fits([source]))
    return [shorter] if shorter else []


def layout(sources: Sequence[Source]) -> str:
    """Write passages out for a reader, without spans, whose numbers a small model takes for facts.

    >>> print(layout([Source(1, "a.txt", 0, 4, 0.5, "Yes.")]))
    [1] "a.txt":
    =====
    Yes.
    =====
    """
    longest = max((len(run) for s in sources for run in re.findall("=+", s.text)), default=0)
    fence = "=" * max(5, longest + 1)
    return "\n\n".join(
        f"[{source.number}] {json.dumps(source.document, ensure_ascii=False)}"
        f"{', cut off' * source.cut}:\n{fence}\n{source.text.strip()}\n{fence}"
        for source in sources
    )


def _shortened(source: Source, fits: Callable[[Source], bool]) -> Source | None:
    text = source.text

    def until(end: int) -> Source:
        return replace(source, end=source.start + end, text=text[:end], cut=True)

    words = [match.end() for match in re.finditer(r"\s+", text)]
    for ends in (split(text)[1:-1], words, range(1, len(text))):
        # Tokens do not add up exactly, so the last step is taken with care.
        k = bisect_left(ends, True, key=lambda end: not fits(until(end)))
        while k and not fits(until(ends[k - 1])):
            k -= 1
        if k and text[: ends[k - 1]].strip():
            return until(ends[k - 1])
    return None
