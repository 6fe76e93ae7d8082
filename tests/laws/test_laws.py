"""The laws of the design, section 3, over a fake model whose scores the test chooses."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc import Chunker, Document, DocumentError, Options, Settings, Tree
from lgmgc.chunkers.logits_guided import logits_guided
from lgmgc.chunkers.methods import METHODS
from lgmgc.text.sizes import Unit, count_words
from tests.fake import SCORES, TEXTS, FakeEmbedder, FakeScorer, FakeWriter

UNITS: tuple[Unit, ...] = ("words", "tokens", "characters")
MEASURES = {"words": count_words, "tokens": len, "characters": len}  # a fake token is a character

anything = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(list(" \n\r\t.!?。！\u00a0\u200d\u0301#-|x")),
    ),
    max_size=400,
)
VARIANTS: dict[str, tuple[str, Options]] = {
    **{name: (name, Options()) for name in METHODS if name != "manual"},
    "manual": ("manual", Options(marker="Title")),
    "lg, three signals": ("lg", Options(signal="eos+surprise+topic", drift=True, least=9)),
    "global, two signals": ("global", Options(signal="eos+topic", drift=True, target=7)),
    "global, strong": ("global", Options(strength=50.0)),
    "lumber, weighed": ("lumber", Options(reader="logits", group=40)),
    "semantic, gradient": ("semantic", Options(breakpoint="gradient", threshold=60)),
    "random like lg": ("random", Options(like="lg", seed=3)),
    "perplexity, deep": ("perplexity", Options(threshold=1.5)),
}
"""Every method, and the ways that its options open."""


def make(settings: Settings, scores: str = "random", context: int = 100_000) -> Chunker:
    return Chunker(
        settings,
        FakeScorer(SCORES[scores], context),
        500,
        writer=FakeWriter(),
        embedder=FakeEmbedder(),
    )


def chunk(text: str, scores: str = "random", context: int = 100_000, **options: object) -> Tree:
    return make(Settings(**options), scores, context).chunk(text)  # type: ignore[arg-type]


def named(variant: str, **options: object) -> Settings:
    method, more = VARIANTS[variant]
    return Settings(method, options=more, **options)  # type: ignore[arg-type]


def check_tiling(tree: Tree) -> None:
    text = tree.document.text
    assert "".join(parent.text for parent in tree.parents) == text
    offsets = [0, *(parent.end for parent in tree.parents)]
    assert [parent.start for parent in tree.parents] == offsets[:-1]
    assert offsets[-1] == len(text)
    for parent in tree.parents:
        assert parent.start < parent.end
        for level in (1, 2):
            children = [c for c in parent.children if c.level == level and c.view is None]
            if children:
                assert children[0].start == parent.start
                assert children[-1].end == parent.end
                for left, right in itertools.pairwise(children):
                    assert left.end == right.start


def check_views_and_windows(tree: Tree, theta: int, unit: Unit) -> None:
    for parent in tree.parents:
        for child in parent.children:
            assert parent.start <= child.start < child.end <= parent.end
            assert child.view is None or child.view.strip()
        if parent.window:
            start, end = parent.window
            assert start <= parent.start < parent.end <= end
            assert MEASURES[unit](tree.document.text[start:end]) <= theta


def check_limits(tree: Tree, theta: int, unit: Unit) -> None:
    measure, limits = MEASURES[unit], (theta, theta // 2, theta // 4)
    for piece in (piece for piece in tree if piece.view is None):
        # One code point is never cut; it may be more than a limit only in tokens, of which it
        # may have several: not here.
        assert measure(piece.text) <= limits[piece.level], piece


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_1_to_3_on_awkward_texts(name: str, scores: str, unit: Unit) -> None:
    if len(TEXTS[name]) > 10_000 and scores not in ("first", "random"):
        scores = "last"  # the long texts take their time; three ways to score them are enough
    theta = 60 if len(TEXTS[name]) < 10_000 else 1_000
    tree = chunk(TEXTS[name], scores, theta=theta, unit=unit)
    check_tiling(tree)
    check_limits(tree, theta, unit)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_1_to_3_of_every_method_on_awkward_texts(name: str, variant: str, unit: Unit) -> None:
    theta = 60 if len(TEXTS[name]) < 10_000 else 2_000
    tree = make(named(variant, theta=theta, unit=unit)).chunk(TEXTS[name])
    check_tiling(tree)
    assert tree.tiles
    check_limits(tree, theta, unit)
    check_views_and_windows(tree, theta, unit)


@given(
    anything,
    st.sampled_from(list(VARIANTS)),
    st.sampled_from(list(SCORES)),
    st.sampled_from(UNITS),
    st.integers(4, 40),
    st.sampled_from([None, (), (2, 4), (3,)]),
)
@settings(max_examples=400, deadline=None)
def test_laws_1_to_3_on_any_text(
    text: str, variant: str, scores: str, unit: Unit, theta: int, children: tuple[int, ...] | None
) -> None:
    asked = named(variant, theta=theta, unit=unit, children=children)
    tree = make(asked, scores).chunk(text)
    check_tiling(tree)
    check_views_and_windows(tree, theta, unit)
    for piece in tree:
        if piece.view is None:
            assert MEASURES[unit](piece.text) <= asked.limits[piece.level], piece


@given(anything, st.sampled_from(UNITS), st.integers(4, 40), st.integers(1, 39))
@settings(max_examples=100, deadline=None)
def test_overlapping_chunks_cover_the_text_and_keep_the_limit(
    text: str, unit: Unit, theta: int, overlap: int
) -> None:
    options = Options(overlap=min(overlap, theta - 1))
    tree = make(Settings("fixed", theta, unit, options=options)).chunk(text)
    parents = tree.parents
    assert not text or (parents[0].start, parents[-1].end) == (0, len(text))
    for left, right in itertools.pairwise(parents):
        assert left.start < right.start <= left.end < right.end
        shared = MEASURES[unit](text[right.start : left.end])
        assert shared <= options.overlap
    check_limits(tree, theta, unit)
    assert tree.tiles == all(a.end == b.start for a, b in itertools.pairwise(parents))


@given(anything, st.integers(1, 12), st.integers(4, 60))
@settings(max_examples=100, deadline=None)
def test_the_context_bounds_windows_and_loses_nothing(text: str, context: int, theta: int) -> None:
    # FakeScorer itself refuses a window beyond its context. It counts a token per character,
    # while real ones have at most one per byte.
    tree = chunk(text, context=context, theta=theta)
    check_tiling(tree)
    check_limits(tree, theta, "words")


def test_a_sentence_is_divided_between_graphemes_only() -> None:
    for name in ("joiners and emoji families", "flags", "combining accents"):
        text = TEXTS[name]
        ends = set(itertools.accumulate(len(g) for g in regex.findall(r"\X", text)))
        tree = chunk(text, theta=80, unit="characters")
        cuts = {piece.end for piece in tree}
        # The longest grapheme here has 5 code points, so that it fits in θ/4 = 20.
        assert cuts <= ends


def test_law_3_uniform_scores_pack_whole_sentences() -> None:
    text = "One two. " * 30  # 30 sentences of two words; θ = 7 holds three of them
    for scores in ("equal", "nan", "-inf", "last"):
        tree = chunk(text, scores, theta=7, method="lg")
        assert [parent.words for parent in tree.parents] == [6] * 10


def test_law_3_first_sentence_every_time() -> None:
    # Each window gives up its first sentence; the last window, which fits, is not scored.
    tree = chunk("One two. " * 30, "first", theta=7, method="lg")
    assert [parent.words for parent in tree.parents] == [2] * 27 + [6]
    assert [parent.score for parent in tree.parents] == [-1.0] * 27 + [None]


@given(
    st.lists(anything, max_size=8),
    st.sampled_from(list(VARIANTS)),
    st.integers(4, 30),
    st.integers(1, 2_000),
)
@settings(max_examples=100, deadline=None)
def test_law_4_neighbours_and_batches_change_nothing(
    texts: list[str], variant: str, theta: int, batch_tokens: int
) -> None:
    documents = [Document(f"d{k}", text) for k, text in enumerate(texts)]
    asked = named(variant, theta=theta)
    alone = [make(asked).chunk(document) for document in documents]
    together = make(asked)
    together._scheduler.batch_tokens = batch_tokens
    assert alone == list(together.chunk_many(documents))


def test_law_4_ids_are_distinct_and_depend_on_content_and_configuration() -> None:
    text = TEXTS["Markdown"]
    documents = [Document("a", text), Document("b", text)]
    chunker = Chunker(Settings(theta=20), FakeScorer(SCORES["random"]))
    ids = [piece.id for tree in chunker.chunk_many(documents) for piece in tree]
    assert len(ids) == len(set(ids)) > 20
    other = chunk(text, theta=21)
    assert not {piece.id for piece in other} & set(ids)


@pytest.mark.parametrize("scores", ["random", "first", "last", "equal"])
def test_law_5_work_is_linear_in_text(scores: str) -> None:
    read = []
    sizes = (2_000, 4_000, 8_000, 16_000)
    for times in sizes:
        scorer = FakeScorer(SCORES[scores])
        Chunker(Settings(theta=100), scorer).chunk("A sentence of six words here. " * times)
        read.append(scorer.tokens / times)
    # What a sentence costs does not grow with the text, also where chains of cuts never meet.
    assert max(read[2:]) <= 1.1 * max(read[:2])


@pytest.mark.parametrize("variant", VARIANTS)
def test_law_5_what_models_are_asked_is_linear_in_text(variant: str) -> None:
    read = []
    for times in (1_000, 2_000, 4_000):
        chunker = make(named(variant, theta=40))
        chunker.chunk("".join(f"Sentence {k} of six words here.\n\n" for k in range(times)))
        models = chunker.models
        assert isinstance(models.scorer, FakeScorer)
        assert isinstance(models.writer, FakeWriter)
        assert isinstance(models.embedder, FakeEmbedder)
        read.append((models.scorer.tokens + models.writer.read + models.embedder.read) / times)
    # Chains of cuts may meet late, so the greedy rule's share varies; quadratic work would be 4.
    assert max(read[1:]) <= 1.3 * read[0]


@given(st.sampled_from(list(SCORES)), st.integers(8, 60), st.integers(50, 400))
@settings(max_examples=40, deadline=None)
def test_law_5_chains_make_the_same_cuts_for_at_most_three_times_the_reading(
    scores: str, theta: int, count: int
) -> None:
    text = "".join(f"{'word ' * (k * k % 5 + 1)}end{k % 7}. " for k in range(count))
    cuts, read = [], []
    for chain in (0, 4):
        scorer = FakeScorer(SCORES[scores])
        chunker = Chunker(Settings("lg", theta), scorer)
        chunker._method = replace(chunker._method, cut=partial(logits_guided, chain=chain))
        cuts.append([(p.end, p.score) for p in chunker.chunk(text).parents])
        read.append(scorer.tokens)
    assert cuts[0] == cuts[1]
    assert read[1] <= 3 * read[0] + 8 * 10 * theta * 10  # and a few windows on a short text


def test_law_5_documents_are_taken_as_they_are_needed() -> None:
    taken = 0

    def documents() -> object:
        nonlocal taken
        for k in range(5_000):
            taken += 1
            yield Document(str(k), "One two three. " * 40)

    chunker = Chunker(Settings(theta=30), FakeScorer(SCORES["random"]), batch_tokens=2_000)
    trees = chunker.chunk_many(documents())  # type: ignore[arg-type]
    next(trees)
    assert taken <= 256  # IN_FLIGHT, whatever the number of documents


def test_lone_surrogates_are_refused_with_their_place() -> None:
    with pytest.raises(DocumentError, match=r"a\.txt: lone surrogate U\+D800 at character 4"):
        Document("a.txt", "Hi. \ud800")
