"""Parents by the recursive rule: paragraphs, else lines, else sentences, merged up to θ.

Source: the separator order of LangChain's RecursiveCharacterTextSplitter; the multi-granular
chunker without a model stands on it (the "MG" of the LGMGC ablation).
"""

from __future__ import annotations

from lgmgc.chunkers.method import Cut, Cuts
from lgmgc.text.table import Sentences


def recursive(sentences: Sentences) -> Cuts:
    """Merge paragraphs up to θ; what is longer by itself is merged from lines, then sentences.

    Words and graphemes come last: a sentence longer than θ is divided when sentences are tabulated.

    Yields:
        Nothing: no model is needed.

    Returns:
        The cuts in order, without scores.
    """
    count = len(sentences)
    paragraph, line = {count}, {count}
    for k, text in enumerate(sentences.texts(), start=1):
        space = text[len(text.rstrip()) :]
        breaks = len(space.splitlines()) - (not space.endswith(("\n", "\r")))
        if breaks >= 1:
            line.add(k)
        if breaks >= 2:
            paragraph.add(k)
    cuts: list[Cut] = []
    start = 0
    while start < count:
        reach = sentences.fit(start)
        stop = next(
            (
                k
                for ends in (paragraph, line)
                for k in range(reach, start, -1)
                if k in ends and sentences.within(start, k)
            ),
            reach,
        )
        cuts.append(Cut(stop, None))
        start = stop
    return cuts
    yield  # a generator like the others
