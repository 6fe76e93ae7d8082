"""The control: boundaries at random, with the sizes of another method's run.

Where a method chooses boundaries, part of what it gains may come from the sizes that it makes. The
same sizes in another order, at ends of sentences, tell the two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from lgmgc.chunkers.method import Cutting, Segmentation, parents
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.text.sizes import IntArray
from lgmgc.text.table import Sentences

Cut = Callable[[Sentences, Options, Document], Cutting]


def random_control(like: Cut) -> Cut:
    """The control of a method.

    Args:
        like: the method, which is run on each document to learn the sizes.

    Returns:
        A method that reads the option ``seed``, beside what ``like`` reads.
    """

    def cut(sentences: Sentences, options: Options, document: Document) -> Cutting:
        made = yield from like(sentences, options, document)
        first = replace(sentences, totals=sentences.totals[:1], limits=sentences.limits[:1])
        texts = [sentences.text[parent.start : parent.end] for parent in made.parents]
        sizes = first.limits[0].measure(texts).tolist()
        Random(f"{options.seed} {document.content_hash}").shuffle(sizes)
        stops = nearest_stops(first, sizes)
        return Segmentation(parents(sentences, stops), made.retries, made.fallbacks)

    return cut


def nearest_stops(sentences: Sentences, sizes: Sequence[int]) -> list[int]:
    """Divide sentences into as many runs as there are sizes, of about these sizes in this order.

    Each run ends at the sentence's end that is nearest to the running total of the sizes: at most
    half a sentence from it. Farther where θ makes a run end earlier, where that end is taken
    already, and where one is left for every run to come. What θ holds back may make further runs
    at the end; where every size is θ, as of ``fixed``, sentences are packed and nothing is random.
    The sizes are scaled to the document's: those of overlapping chunks are more, tokens
    may be less.

    Args:
        sentences: with θ as their only limit.
        sizes: in the unit of θ.

    Returns:
        One past the last sentence of each run.
    """
    total, count = sentences.totals[0], len(sentences)
    stops: list[int] = []
    for left, near in zip(reversed(range(len(sizes))), _nearest(total, sizes), strict=True):
        start = stops[-1] if stops else 0
        if start == count:
            break
        stop = max(start + 1, min(near, count - left, sentences.fit(start)))
        while not sentences.within(start, stop):
            stop -= 1
        stops.append(stop)
    while stops and stops[-1] < count:
        stops.append(sentences.fit(stops[-1]))
    return stops


def _nearest(total: IntArray, sizes: Sequence[int]) -> list[int]:
    """The places, from 1, in a rising total that are nearest to the running total of the sizes."""
    if not sizes:
        return []
    marks = np.cumsum(sizes) * (int(total[-1]) / max(1, sum(sizes)))
    above = np.searchsorted(total, marks).clip(1, len(total) - 1)
    below_is_nearer = marks - total[above - 1] < total[above] - marks
    places: list[int] = np.maximum(1, above - below_is_nearer).tolist()
    return [*places[:-1], len(total) - 1]
