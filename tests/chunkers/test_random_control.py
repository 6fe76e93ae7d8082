from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers.fixed import fixed
from lgmgc.chunkers.method import Cutting, Parent, Segmentation
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.paragraph import paragraph
from lgmgc.chunkers.random_control import Cut, nearest_stops, random_control
from lgmgc.chunkers.recursive import recursive, tiling
from lgmgc.chunkers.sentence_packing import sentence_packing
from lgmgc.document import Document
from lgmgc.text.sizes import count_words, measure_words
from lgmgc.text.table import Limit, Sentences, tabulate
from tests.chunkers.cutting import (
    UNITS,
    anything,
    check_laws,
    finish,
    limits,
    prose,
    run,
    table,
)
from tests.fake import TEXTS


def of_sizes(sizes: Sequence[int], theta: int = 10**6) -> Sentences:
    """Sentences of so many words."""
    pieces = ["x " * size for size in sizes]
    bounds = [0, *accumulate(map(len, pieces))]
    return tabulate("".join(pieces), bounds, [Limit(measure_words, theta)])


def ending(stops: Sequence[int], retries: int = 0) -> Cut:
    """A method that always ends its parents with these sentences."""

    def cut(sentences: Sentences, options: Options, document: Document) -> Cutting:
        return Segmentation(tiling(sentences.bounds[list(stops)].tolist()), retries)
        yield

    return cut


def draw(sentences: Sentences, like: Cut, seed: int = 0) -> list[Parent]:
    document = Document("a", sentences.text)
    return finish(random_control(like)(sentences, Options(seed=seed), document))


def sizes_of(sentences: Sentences, parents: Sequence[Parent]) -> list[int]:
    return [count_words(sentences.text[parent.start : parent.end]) for parent in parents]


@pytest.mark.parametrize(
    ("sentences", "theta", "sizes", "stops"),
    [
        ([1, 1, 1, 1, 1, 1], 9, [1, 3, 2], [1, 4, 6]),
        ([4, 4, 4], 20, [5, 7], [1, 3]),  # 5 is nearer to 4 than to 8
        ([4, 4, 4], 20, [7, 5], [2, 3]),
        ([4, 4, 4], 20, [1, 1, 10], [1, 2, 3]),  # both nearest to the first end: one each
        ([4, 4, 4], 20, [10, 1, 1], [1, 2, 3]),  # one is left for each run to come
        ([4, 4, 4], 20, [3, 3, 3, 3], [1, 2, 3]),  # more sizes than sentences
        ([4, 4, 4], 5, [6, 6], [1, 2, 3]),  # θ makes one more
        ([3, 3, 3, 3], 6, [6, 6], [2, 4]),
        ([2, 2, 2], 6, [4, 8], [1, 3]),  # scaled to 2 and 4, as of overlapping chunks
        ([], 5, [], []),
    ],
)
def test_nearest_stops_by_hand(
    sentences: list[int], theta: int, sizes: list[int], stops: list[int]
) -> None:
    assert nearest_stops(of_sizes(sentences, theta), sizes) == stops


lengths = st.lists(st.integers(1, 9), min_size=30, max_size=60)


@given(lengths, st.integers(0, 10**6), st.data())
@settings(max_examples=200, deadline=None)
def test_boundaries_are_within_half_a_sentence_of_shuffled_sizes(
    words: list[int], seed: int, data: st.DataObject
) -> None:
    # Every parent holds nine words or more, the longest sentence, so that none is in another's way.
    sentences = of_sizes(words)
    stops = [0]
    for stop in range(1, len(words)):
        after = sum(words[stop:])
        if sum(words[stops[-1] : stop]) > 9 and after > 9 and data.draw(st.booleans()):
            stops.append(stop)
    stops = [*stops[1:], len(words)]
    given_sizes = [sum(words[a:b]) for a, b in pairwise([0, *stops])]
    parents = draw(sentences, ending(stops), seed)
    assert len(parents) == len(stops)
    document = Document("a", sentences.text)
    Random(f"{seed} {document.content_hash}").shuffle(given_sizes)
    ends = np.cumsum(sizes_of(sentences, parents))
    targets = np.cumsum(given_sizes)
    sentence_ends = np.cumsum([0, *words])
    for end, target in zip(ends.tolist(), targets.tolist(), strict=True):
        inside = int(np.searchsorted(sentence_ends, target))
        assert abs(end - target) <= words[inside - 1] / 2
    # Of two ends half a sentence off, a size is off by one at most.
    sizes = np.array(sizes_of(sentences, parents))
    assert (abs(sizes - given_sizes) <= max(words)).all()
    assert (abs(np.sort(sizes) - np.sort(given_sizes)) <= max(words)).all()


def test_sentences_of_one_word_give_the_very_sizes() -> None:
    sentences = of_sizes([1] * 100)
    stops = [3, 10, 11, 40, 41, 60, 95, 100]
    drawn = {tuple(sizes_of(sentences, draw(sentences, ending(stops), seed))) for seed in range(50)}
    assert {tuple(sorted(sizes)) for sizes in drawn} == {(1, 1, 3, 5, 7, 19, 29, 35)}
    assert len(drawn) > 45  # the orders differ


def test_the_seed_and_the_text_decide_and_nothing_else() -> None:
    sentences = of_sizes([1 + k % 4 for k in range(200)])
    like = ending([*range(7, 200, 9), 200])
    assert draw(sentences, like, 1) == draw(sentences, like, 1)
    assert draw(sentences, like, 1) != draw(sentences, like, 2)
    cut = random_control(like)
    other = finish(cut(sentences, Options(seed=1), Document("b", sentences.text)))
    assert other == draw(sentences, like, 1)


def test_boundaries_come_everywhere_alike() -> None:
    # Thirty sizes from 1 to 30 over 465 sentences of a word, drawn with 600 seeds.
    sentences = of_sizes([1] * 465)
    like = ending(list(accumulate(range(1, 31))))
    places: Counter[int] = Counter()
    first, last = [], []
    for seed in range(600):
        parents = draw(sentences, like, seed)
        sizes = sizes_of(sentences, parents)
        first.append(sizes[0])
        last.append(sizes[-1])
        places.update(10 * sum(sizes[:k]) // 465 for k in range(1, 30))
    # A size is as likely in one place as in another: the mean of the first, as of all, is 15.5,
    # with a standard error of 8.66 / √600 = 0.35.
    assert abs(np.mean(first) - 15.5) < 1.4
    assert abs(np.mean(last) - 15.5) < 1.4
    # So are boundaries, a tenth of the text away from its ends, where one was certain: sizes of
    # mean 15.5 make 600 · 46.5 / 15.5 a tenth.
    assert all(abs(places[tenth] - 1_800) < 0.06 * 1_800 for tenth in range(1, 9))
    assert abs(places[0] - places[9]) < 0.06 * 1_800


TEXT = "".join(
    "Lorem " * (k * k % 11) + "and so on it goes." + (" " if k % 7 else "\n\n") for k in range(900)
)


@pytest.mark.parametrize("like", [sentence_packing, recursive, paragraph])
@pytest.mark.parametrize("unit", UNITS)
def test_as_many_parents_as_the_method_makes(like: Cut, unit: str) -> None:
    sentences = table(TEXT, UNITS[unit](60 if unit == "words" else 300))
    counted = len(finish(like(sentences, Options(), Document("a", TEXT))))
    for seed in range(20):
        # Where all are filled up to θ, what is rounded up is held back, and makes a few more.
        assert counted <= len(draw(sentences, like, seed)) <= 1.05 * counted + 1


def test_sizes_of_exactly_theta_leave_no_choice_but_packing() -> None:
    sentences = table(TEXT, UNITS["words"](60))
    assert draw(sentences, fixed) == run(sentence_packing, TEXT, UNITS["words"](60))


def test_what_the_method_asks_for_and_counts_is_passed_on() -> None:
    def asking(sentences: Sentences, options: Options, document: Document) -> Cutting:
        answers = yield []
        assert list(answers) == ["answer"]
        return Segmentation(tiling([len(sentences.text)]), retries=3, fallbacks=2)

    sentences = of_sizes([1, 2])
    cutting = random_control(asking)(sentences, Options(), Document("a", sentences.text))
    assert next(cutting) == []
    with pytest.raises(StopIteration) as end:
        cutting.send(["answer"])
    assert end.value.value == (tiling([len(sentences.text)]), 3, 2)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str) -> None:
    limit = UNITS[unit](60)
    check_laws(TEXTS[name], run(random_control(recursive), TEXTS[name], limit), limit)


@given(
    anything | prose,
    limits,
    st.sampled_from([recursive, paragraph, sentence_packing, fixed]),
    st.integers(0, 99),
    st.integers(0, 2),
)
@settings(max_examples=300, deadline=None)
def test_laws_and_that_ends_are_ends_of_sentences(
    text: str, limit: Limit, like: Cut, seed: int, overlap: int
) -> None:
    options = Options(seed=seed, overlap=overlap)
    parents = run(random_control(like), text, limit, options)
    check_laws(text, parents, limit)
    ends = set(table(text, limit).bounds.tolist())
    assert {parent.end for parent in parents} <= ends
