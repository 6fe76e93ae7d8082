"""Propositions: passages found by the single facts that a model says are in them.

Source: Chen et al., "Dense X Retrieval: What Retrieval Granularity Should We Use?" (arXiv
2312.06648). There a fine-tuned T5 writes the propositions; here any local model may.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import regex

from lgmgc.chunkers.method import Cutting, Parent, Segmentation, View
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.sentence_packing import packed
from lgmgc.document import Document
from lgmgc.lm.requests import Writing
from lgmgc.text.sizes import count_words
from lgmgc.text.table import Sentences

PORTION = 16
"""Passages in one list of requests."""

RUN = 3
"""The most sentences of a passage that a proposition is said to come from."""

MOST = 200
"""Propositions of a passage that are kept."""

LONGEST = 1_000
"""Characters of a proposition; more is no single fact."""

# Scripts without spaces give single characters.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_ALONE}]|[\p{{L}}\p{{M}}\p{{N}}--[{_ALONE}]]+", regex.V1)


def proposition(sentences: Sentences, options: Options, document: Document) -> Cutting:
    """Pack whole sentences up to θ, and give every such passage its propositions as views.

    Where no proposition can be read from the answer, the passage's sentences are its views, and a
    fallback is counted. Nothing is asked again: greedy decoding would answer the same.

    Args:
        sentences: the document's; their first limit is θ.
        options: ``propositionizer``: in which form passages are put to the model.
        document: not needed.

    Yields:
        Up to `PORTION` passages to write about at once.
    """
    instruction = (
        instruction_for_propositionizer if options.propositionizer else instruction_for_chat
    )
    runs = list(pairwise([0, *packed(sentences)]))
    made: list[Parent] = []
    fallbacks = 0
    for first in range(0, len(runs), PORTION):
        portion = runs[first : first + PORTION]
        passages = [_passage(sentences, *run) for run in portion]
        writings = [
            Writing(start, stop, instruction(passage), tokens_for(passage))
            for (start, stop), passage in zip(portion, passages, strict=True)
            if is_language(passage)
        ]
        answers = iter((yield writings) if writings else ())
        for run, passage in zip(portion, passages, strict=True):
            facts = propositions(next(answers)) if is_language(passage) else []
            views = placed(sentences, *run, facts)
            fallbacks += bool(passage) and not views
            views = views or as_they_stand(sentences, *run)
            start, end = (int(sentences.bounds[k]) for k in run)
            made.append(Parent(start, end, views=tuple(views)))
    return Segmentation(made, fallbacks=fallbacks)


def instruction_for_chat(passage: str) -> str:
    """What a model that follows instructions is asked, in our words."""
    return (
        "Break the passage below down into its single facts.\n"
        "- Write one short, simple sentence for each fact; split sentences that state several.\n"
        "- Keep to the passage's own words, and leave out nothing that it states.\n"
        "- Each sentence must be understood by itself: put the full name in place of words such "
        'as "it", "he", "they" or "this".\n'
        "- Answer in the passage's language, and with nothing but a JSON list of strings, like "
        '["…", "…"]\n\n'
        f"Passage:\n{passage}"
    )


def instruction_for_propositionizer(passage: str) -> str:
    """What the published propositionizer (a T5) reads; title and section may be empty.

    >>> instruction_for_propositionizer("The sea left.")
    'Title: . Section: . Content: The sea left.'
    """
    return f"Title: . Section: . Content: {passage}"


def tokens_for(passage: str) -> int:
    """How many tokens the propositions of a passage may take, all together.

    >>> tokens_for("The sea left, and it came back.")
    78
    """
    return 2 * count_words(passage) + 64


def is_language(passage: str) -> bool:
    """Whether a passage is worth asking about: neither blank nor made of endless words.

    θ words of encoded data would overflow any context.

    >>> is_language("The sea left."), is_language(" "), is_language("x" * 200_000)
    (True, False, False)
    """
    return bool(passage.strip()) and len(passage) <= 32 * count_words(passage) + 1_000


def propositions(answer: str) -> list[str]:
    r"""The strings of the first JSON list in an answer, each once, with single spaces.

    What is no string, empty or longer than `LONGEST` is left out, and so is all behind the first
    `MOST`. No list at all, or one that is not finished, gives none.

    >>> propositions('Here you are:\n```json\n["The sea left.", 3, "It came  back."]\n```')
    ['The sea left.', 'It came back.']
    >>> propositions('["The sea left.", "It ca')
    []
    """
    try:
        found, _ = json.JSONDecoder().raw_decode(answer, answer.index("["))
    except (ValueError, RecursionError):
        return []
    # An escape such as \ud800 is half a character, which no output can hold.
    texts = (text.encode("utf-8", "ignore").decode() for text in found if isinstance(text, str))
    facts = (" ".join(text.split()) for text in texts)
    return list(dict.fromkeys(fact for fact in facts if 0 < len(fact) <= LONGEST))[:MOST]


def placed(sentences: Sentences, start: int, stop: int, facts: Sequence[str]) -> list[View]:
    """Give each proposition the sentences of its passage that it shares most words with.

    These are the run of one to `RUN` sentences with the highest Dice coefficient of the words (as
    multisets, without case) with it; of equals the shortest, of these the first. What shares no
    word with any does not come from the passage (small models write out the form that they were
    shown) and is left out.

    Args:
        sentences: the document's.
        start: the passage's first sentence.
        stop: one past its last.
        facts: the propositions.

    Returns:
        In document order; those of the same span in the order given.
    """
    words = [_words(text) for text in sentences.texts(start, stop)]
    runs = [
        (first, first + length, sum(words[first : first + length], Counter()))
        for length in range(1, RUN + 1)
        for first in range(len(words) - length + 1)
    ]
    views = []
    for fact in facts:
        given = _words(fact)
        scores = [dice(given, run) for _, _, run in runs]
        best = max(scores, default=0)
        if best:
            first, last, _ = runs[scores.index(best)]
            begin, end = (int(sentences.bounds[start + k]) for k in (first, last))
            views.append(View(begin, end, fact))
    return sorted(views, key=lambda view: view[:2])


def dice(left: Counter[str], right: Counter[str]) -> float:
    """Twice what two multisets share, as a share of both; 0 for two empty ones.

    >>> dice(Counter("aab"), Counter("abc"))
    0.6666666666666666
    """
    shared = sum(min(count, right[word]) for word, count in left.items())
    return 2 * shared / max(1, left.total() + right.total())


def as_they_stand(sentences: Sentences, start: int, stop: int) -> list[View]:
    """A passage's sentences as views, without the blank ones."""
    bounds = sentences.bounds[start : stop + 1].tolist()
    return [View(a, b, text) for a, b in pairwise(bounds) if (text := sentences.text[a:b].strip())]


def _passage(sentences: Sentences, start: int, stop: int) -> str:
    return sentences.text[sentences.bounds[start] : sentences.bounds[stop]].strip()


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))
