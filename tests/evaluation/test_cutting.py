from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.options import Options
from lgmgc.document import Document, Tree
from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Benchmark
from lgmgc.evaluation.cutting import Cut, cut, cut_as_published, cut_at_random, spans_of
from lgmgc.evaluation.experiment import Row
from tests.evaluation.made import FakeModels, tree
from tests.fake import SCORES, FakeScorer

SPACE = st.text(" \t\n\u00a0\u3000\x1c\x85", max_size=3)
BLACK = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=4)


@given(st.lists(st.tuples(SPACE, BLACK, SPACE, SPACE, SPACE), min_size=1, max_size=8), st.data())
def test_chunks_of_others_tile_the_text(
    pieces: list[tuple[str, str, str, str, str]], data: st.DataObject
) -> None:
    # Each word with white space of its own in the document, and with other in the chunk.
    whole = "".join(before + word + after for before, word, after, _, _ in pieces)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(pieces)))) | {len(pieces)})
    runs = [pieces[a:b] for a, b in pairwise([0, *cuts])]
    texts = ["".join(left + word + right for _, word, _, left, right in run) for run in runs]
    blank = data.draw(st.integers(0, len(texts)))
    spans = spans_of([*texts[:blank], " \n", *texts[blank:]], whole)
    assert spans is not None
    assert [whole[a:b].split() != [] for a, b in spans] == [True] * len(runs)
    assert "".join(whole[a:b] for a, b in spans) == whole
    for (a, b), text in zip(spans, texts, strict=True):
        assert "".join(whole[a:b].split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("texts", "whole", "spans"),
    [
        ([" One.\n", "Two."], "\n One. \n\nTwo. \n", [(0, 9), (9, 15)]),
        (["One", " Two"], "OneTwo", [(0, 3), (3, 6)]),  # within what the document writes as a word
        (["a", "b"], "a b c", None),  # a part is missing
        (["a", "b", "c"], "a b", None),  # there is more
        (["a", "B"], "a b", None),
        (["b", "a"], "a b", None),
        ([], "", []),
    ],
)
def test_spans_by_hand(texts: list[str], whole: str, spans: list[tuple[int, int]] | None) -> None:
    assert spans_of(texts, whole) == spans


TEXT = "One two. Three four.\n\nFive six. Seven."
DOCUMENT = Document("d", TEXT)


def published(texts: tuple[str, ...], *documents: Document) -> Benchmark:
    return Benchmark("own", "t", documents or (DOCUMENT,), chunkings={"people": texts})


def test_published_chunks_have_their_spans_and_no_limit() -> None:
    row = Row("p", published="people")
    made = cut_as_published(row, published(("One two.", "Three four. Five six.", "Seven.")))
    assert [[(p.start, p.end) for p in each.parents] for each in made.trees] == [
        [(0, 9), (9, 32), (32, 38)]
    ]
    assert [p.children for each in made.trees for p in each.parents] == [(), (), ()]
    assert made.model_tokens == 0


@pytest.mark.parametrize(
    ("name", "texts", "documents", "said"),
    [
        ("machine", ("One",), (), "own has no chunks 'machine'; it has: people"),
        ("people", ("One",), (), "the chunks 'people' of own are not all its text"),
        ("people", ("One",), (DOCUMENT, DOCUMENT), "own has published chunks, and more than one"),
    ],
)
def test_published_chunks_that_do_not_fit(
    name: str, texts: tuple[str, ...], documents: tuple[Document, ...], said: str
) -> None:
    with pytest.raises(UsageError, match=f"^{said}"):
        cut_as_published(Row("p", published=name), published(texts, *documents))


def sentences(*words: int) -> str:
    return " ".join("w " * (count - 1) + "End." for count in words)


def like(trees: tuple[Tree, ...], **settings: object) -> Cut:
    return Cut(trees, Settings("lg", **{"theta": 1000, **settings}))  # type: ignore[arg-type]


def words_of(made: Cut) -> list[list[int]]:
    return [[parent.words for parent in each.parents] for each in made.trees]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 99))
def test_a_control_keeps_the_sizes(counts: list[int], seed: int) -> None:
    # All sentences have 3 words and 11 characters, so that every order of the sizes can be made.
    document = Document("d", "Ab cd ef.  " * sum(counts))
    ends = [11 * total for total in accumulate(counts)]
    made = cut_at_random(like((tree(document, *ends),)), seed)
    [found] = words_of(made)
    assert sorted(found) == sorted(3 * count for count in counts)
    assert "".join(parent.text for parent in made.trees[0].parents) == document.text


def test_seeds_are_orders() -> None:
    document = Document("d", "Ab cd ef.  " * 10)
    original = like((tree(document, 11, 33, 66, 110),))
    drawn = [words_of(cut_at_random(original, seed)) for seed in range(10)]
    assert drawn[0] == words_of(cut_at_random(original, 0))
    assert len({tuple(found) for [found] in drawn}) > 3


def test_a_control_has_the_limit_and_the_children_of_what_it_is_like() -> None:
    document = Document("d", "Ab cd ef.  " * 8)
    scorer = FakeScorer(SCORES["last"])
    settings = Settings("lgmgc", theta=12)
    lgmgc = Cut(tuple(Chunker(settings, scorer).chunk_many([document])), settings)
    made = cut_at_random(lgmgc, 0)
    assert made.settings.limits == (12, 6, 3)
    assert words_of(made) == [[12, 12]]
    levels = [[child.level for child in parent.children] for parent in made.trees[0].parents]
    assert levels == [[1, 1, 2, 2, 2, 2]] * 2
    plain = cut_at_random(Cut(lgmgc.trees, Settings("lg", theta=12)), 0)
    assert [parent.children for parent in plain.trees[0].parents] == [(), ()]


def test_a_control_in_tokens_asks_their_model_to_count() -> None:
    document = Document("d", "Ab cd ef.  " * 4)
    original = like((tree(document, 11, 44),), unit="tokens", theta=40)
    made = cut_at_random(original, 0, FakeScorer(SCORES["last"]))
    assert sorted(words_of(made)[0]) == [3, 9]
    with pytest.raises(UsageError, match="random in tokens needs a model"):
        cut_at_random(original, 0)


def test_what_a_method_costs(tmp_path: Path) -> None:
    # Windows of 6 words, two sentences; the cut is after the last of them.
    document = Document("d", "Ab cd ef.  " * 4)
    benchmark = Benchmark("own", "t", (document,))
    models = FakeModels(tmp_path)
    row = Row("lg", Settings("lg", theta=6))
    made = cut(row, benchmark, models, Settings("lg", theta=6))
    assert words_of(made) == [[6, 6]]
    # What is left then fits in θ, so that one window is read: 22 characters, each a token, less
    # the white space behind the last sentence.
    assert made.model_tokens == models.fake_scorer.tokens == 20
    assert made.model_seconds > 0
    again = cut(row, benchmark, models, Settings("lg", theta=6))
    assert (again.trees, again.model_tokens) == (made.trees, 20)
    assert again.model_seconds == made.model_seconds
    assert models.fake_scorer.tokens == 20


def test_a_method_without_a_model_costs_none(tmp_path: Path) -> None:
    made = cut(
        Row("r"), Benchmark("own", "t", (DOCUMENT,)), FakeModels(tmp_path), Settings("recursive")
    )
    assert (made.model_seconds, made.model_tokens) == (0, 0)
    assert made.other_seconds > 0


def test_what_is_embedded_to_cut_costs_seconds_and_no_tokens_of_the_model(tmp_path: Path) -> None:
    models = FakeModels(tmp_path)
    settings = Settings("semantic", theta=6)
    made = cut(Row("s"), Benchmark("own", "t", (DOCUMENT,)), models, settings)
    assert made.model_tokens == 0
    assert made.model_seconds > 0
    assert models.fake_embedder.read > 0


def test_fall_backs_are_counted(tmp_path: Path) -> None:
    models = FakeModels(tmp_path)  # whose writer says yes to whatever it is asked
    text = "".join(f"Paragraph {k} has some words.\n\n" for k in range(6))
    settings = Settings("lumber", theta=100, options=Options(group=30))
    made = cut(Row("l"), Benchmark("own", "t", (Document("d", text),)), models, settings)
    assert (made.retries, made.fallbacks) == (1, 1)
    assert len(models.fake_writer.prompts) == 2
