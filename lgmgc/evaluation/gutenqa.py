"""GutenQA's rule of what a relevant chunk is, and the two measures of its paper.

Source: Duarte et al., "LumberChunker" (arXiv 2406.17526) and its repository: a question names a
string that the chunk must contain; relevant is the first chunk of the book that does.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

_QUOTES = str.maketrans("‘’‚‛“”„‟«»`´–—―−…", "''''\"\"\"\"\"\"''----.")
_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[^\w\s]|_")


def lowered(text: str) -> str:
    """Upstream's comparison: lower case, nothing else."""
    return text.lower()


def folded(text: str) -> str:
    r"""Case, typographic quotes and dashes, punctuation and white space made alike.

    >>> folded("It’s — “so”,  she\nsaid.")
    'it s so she said'
    """
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return _SPACE.sub(" ", _MARKS.sub(" ", plain)).strip()


def relevant(chunks: Iterable[str], evidence: str) -> int | None:
    """The first chunk that contains the evidence; both are already lowered or folded.

    >>> relevant(["a b", "b c", "c b c"], "b c"), relevant(["a"], "z")
    (1, None)
    """
    return next((k for k, chunk in enumerate(chunks) if evidence in chunk), None)


def dcg(rank: int | None, k: int) -> float:
    """The discounted cumulative gain of one relevant chunk: 1 / log2(rank + 1) if it is among k.

    >>> dcg(1, 5), dcg(3, 5), dcg(6, 5), dcg(None, 5)
    (1.0, 0.5, 0.0, 0.0)
    """
    return 1 / math.log2(rank + 1) if rank is not None and rank <= k else 0.0


def recall(rank: int | None, k: int) -> float:
    """Whether the relevant chunk is among the first k.

    >>> recall(5, 5), recall(6, 5), recall(None, 5)
    (1.0, 0.0, 0.0)
    """
    return float(rank is not None and rank <= k)


def standard_error(values: Sequence[float]) -> float:
    """Of the mean.

    >>> standard_error([0.0, 1.0, 0.0, 1.0])
    0.28867513459481287
    """
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance / len(values))
