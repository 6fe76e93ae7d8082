"""Which chunk of a document is relevant to a question.

Four rules, each of which names one chunk, the first where several are equal, or none:

* ``lowered``: contains the evidence, both in lower case. GutenQA's own (Duarte et al.,
  "LumberChunker", arXiv 2406.17526, and its repository).
* ``folded``: the same, with quotes, dashes, punctuation and white space made alike.
* ``span``: covers where the evidence stands, so that a text that occurs twice is not mistaken.
* ``rouge``: is most like the evidence. The paper relabels chunks by "the highest ROUGE" and says no
  more; here it is ROUGE-L recall, the share of the evidence's words that stand in the chunk in
  their order. The F-measure would choose short chunks: on Emma it misses the chunk that contains
  the evidence 14 of 29 times (LumberChunker's chunks) and 16 of 28 (semantic), recall never.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from typing import Literal, Protocol, Self

from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Evidence, Span
from lgmgc.text.sizes import WORD

Rule = Literal["lowered", "folded", "span", "rouge"]

_QUOTES = str.maketrans("‘’‚‛“”„‟«»`´–—―−…", "''''\"\"\"\"\"\"''----.")
_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[^\w\s]|_")


class Chunking:
    """The chunks of one document, made ready for many questions."""

    def __init__(self, texts: Sequence[str], spans: Sequence[Span] | None = None) -> None:
        """Take chunks as texts.

        Args:
            texts: of the chunks, in the order of the document.
            spans: where they stand in it, if that is known.
        """
        self._texts = texts
        self._spans = spans

    @classmethod
    def of(cls, text: str, spans: Sequence[Span]) -> Self:
        """Take chunks as spans ``[start, end)`` of a document's text."""
        return cls([text[start:end] for start, end in spans], spans)

    def relevant(self, evidence: Evidence, rule: Rule) -> int | None:
        """The place of the chunk that is relevant by a rule; None where none is.

        Args:
            evidence: in this document. Blank evidence makes no chunk relevant.
            rule: one of four; see the module.

        Raises:
            UsageError: ``span`` was asked for and it is not known where the evidence stands, or the
                chunks; or ``rouge``, and rouge-score is not installed.

        >>> chunking = Chunking.of("One two. One two!", [(0, 9), (9, 17)])
        >>> evidence = Evidence("one two", span=(9, 16))
        >>> [chunking.relevant(evidence, rule) for rule in ("lowered", "folded", "span", "rouge")]
        [0, 0, 1, 0]
        """
        if rule == "lowered":
            return containing(self._lowered, lowered(evidence.text))
        if rule == "folded":
            return containing(self._folded, folded(evidence.text))
        if rule == "span":
            return self._covering(evidence)
        return self._most_alike(words(evidence.text))

    @cached_property
    def _lowered(self) -> list[str]:
        return [lowered(text) for text in self._texts]

    @cached_property
    def _folded(self) -> list[str]:
        return [folded(text) for text in self._texts]

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words(text) for text in self._texts]

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        return [Counter(some) for some in self._words]

    def _covering(self, evidence: Evidence) -> int | None:
        if evidence.span is None or self._spans is None:
            raise UsageError(
                "the rule 'span' needs to know where evidence and chunks stand in the document; "
                "use the rule 'folded'"
            )
        first, last = _core(evidence.text, evidence.span)
        covers = (start <= first and last <= end for start, end in self._spans)
        return next((k for k, right in enumerate(covers) if right), None)

    def _most_alike(self, evidence: Sequence[str]) -> int | None:
        """The first of the chunks with the highest ROUGE-L recall.

        No subsequence is longer than what both have in common as bags of words. Chunks are scored
        by falling common words, and no longer once what is left could neither win nor tie.
        """
        wanted = Counter(evidence)
        bounds = [
            sum(min(count, counts[word]) for word, count in wanted.items())
            for counts in self._counts
        ]
        best = (0.0, 1)  # recall, and the place below zero: of equal chunks the first is the best
        for place in sorted(range(len(bounds)), key=lambda place: -bounds[place]):
            if (bounds[place] / max(1, len(evidence)), -place) < best:
                break
            best = max(best, (rouge_recall(evidence, self._words[place]), -place))
        return -best[1] if best[0] else None


def ceiling(relevant: Sequence[int | None]) -> float:
    """The share of questions that any chunk can satisfy: no retrieval has a higher recall.

    >>> ceiling([3, None, 0, 0])
    0.75
    """
    return sum(place is not None for place in relevant) / len(relevant)


def containing(chunks: Iterable[str], evidence: str) -> int | None:
    """The first chunk that contains the evidence; both are already lowered or folded.

    >>> containing(["a b", "b c", "c b c"], "b c"), containing(["a"], "z"), containing(["a"], "")
    (1, None, None)
    """
    if not evidence:
        return None
    return next((place for place, chunk in enumerate(chunks) if evidence in chunk), None)


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


def words(text: str) -> list[str]:
    """Words for ROUGE: rouge-score's own for ASCII, which knows no other letters.

    >>> words("It's 5 o’clock: 早上。")
    ['it', 's', '5', 'o', 'clock', '早', '上']
    """
    return WORD.findall(folded(text))


def rouge_recall(evidence: Sequence[str], chunk: Sequence[str]) -> float:
    """ROUGE-L recall: the longest common subsequence as a share of the evidence's words.

    Source: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004), by rouge-score.

    >>> rouge_recall(["a", "b", "c", "d"], ["x", "a", "c", "b", "y", "d"])
    0.75
    """
    return float(_scorer().score(evidence, chunk)["rougeL"].recall)


class _Scorer(Protocol):
    def score(self, target: Sequence[str], prediction: Sequence[str]) -> dict[str, _Score]: ...


class _Score(Protocol):
    recall: float


class _AlreadyWords:
    """What rouge-score takes for a tokenizer: a chunk is cut into words once for all questions."""

    def tokenize(self, text: Sequence[str]) -> Sequence[str]:
        return text


@cache
def _scorer() -> _Scorer:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise UsageError("ROUGE needs the library rouge-score: pip install 'lgmgc[eval]'") from None
    scorer: _Scorer = RougeScorer(["rougeL"], tokenizer=_AlreadyWords())
    return scorer


def _core(text: str, span: Span) -> Span:
    """The span without the white space at its ends, which the chunk beside may have.

    >>> _core(" Yes. ", (10, 16)), _core("yes", (10, 16))
    ((11, 15), (10, 16))
    """
    start, end = span
    if len(text) != end - start or not text.strip():
        return span
    return end - len(text.lstrip()), start + len(text.rstrip())
