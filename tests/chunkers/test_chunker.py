from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from lgmgc import Chunk, Chunker, Document, DocumentError, Settings, Tree, UsageError
from lgmgc.lm.windows import ScoreArray, TokenWindow


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [list(map(ord, text)) for text in texts]


class Exclaimed:
    """A scorer by rule: log p([EOS]) is −1 after an exclamation mark and −5 after anything else."""

    def __init__(self, context: int = 1_000) -> None:
        self.encode = characters
        self.context = context
        self.windows: list[TokenWindow] = []

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        self.windows += windows
        return [
            np.where(window.ids[np.maximum(window.ends, 1) - 1] == ord("!"), -1.0, -5.0)[None]
            for window in windows
        ]


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


TEXT = "Ann ran off. Bob sat down! Cid ate all. Dan had fun. Eve is in! Fay got it."


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method 'magic' is none of lgmgc, lg, mg"),
        ({"unit": "bytes"}, "unit 'bytes' is none of words, tokens, characters"),
        ({"theta": 3}, "θ is 3; lgmgc needs at least 4, for its smallest children have θ/4"),
        ({"theta": 0, "method": "lg"}, "θ is 0; lg needs at least 1"),
        ({"theta": -1, "method": "mg"}, "θ is -1; mg needs at least 4"),
        ({"language": "english"}, "language 'english'"),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings(**settings)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_limits_of_the_levels() -> None:
    assert Settings("lgmgc", 300).limits == (300, 150, 75)
    assert Settings("mg", 7).limits == (7, 3, 1)
    assert Settings("lg", 1).limits == (1,)


@pytest.mark.parametrize("settings", [Settings(), Settings("lg"), Settings("mg", unit="tokens")])
def test_a_model_that_is_needed_and_missing(settings: Settings) -> None:
    with pytest.raises(UsageError, match="needs a model"):
        Chunker(settings)


def test_theta_in_tokens_beyond_the_context() -> None:
    Chunker(Settings(theta=50, unit="tokens"), Exclaimed(context=50))
    with pytest.raises(UsageError, match=r"holds 50; that is the largest θ that fits"):
        Chunker(Settings(theta=51, unit="tokens"), Exclaimed(context=50))


def test_lg_by_hand() -> None:
    tree = Chunker(Settings("lg", 9), Exclaimed()).chunk(TEXT)
    # Three words a sentence. Of the first three the second has the mark; of the third to the fifth
    # the last; what is left fits.
    assert texts(tree.parents) == [
        "Ann ran off. Bob sat down! ",
        "Cid ate all. Dan had fun. Eve is in! ",
        "Fay got it.",
    ]
    assert [parent.score for parent in tree.parents] == [-1.0, -1.0, None]
    assert [parent.words for parent in tree.parents] == [6, 9, 3]
    assert all(parent.level == 0 and parent.children == () for parent in tree.parents)


def test_lgmgc_by_hand() -> None:
    chunker = Chunker(Settings("lgmgc", 12), Exclaimed())
    tree = chunker.chunk(TEXT)
    # From the first, four sentences: the second has the mark. From the third: all four fit.
    one, two = tree.parents
    assert texts(tree.parents) == [TEXT[:27], TEXT[27:]]
    # At most 6 words: the first parent is one piece, left out. At most 3: its two sentences.
    assert [(child.level, child.text) for child in one.children] == [
        (2, "Ann ran off. "),
        (2, "Bob sat down! "),
    ]
    assert [(child.level, child.text) for child in two.children] == [
        (1, "Cid ate all. Dan had fun. "),
        (1, "Eve is in! Fay got it."),
        (2, "Cid ate all. "),
        (2, "Dan had fun. "),
        (2, "Eve is in! "),
        (2, "Fay got it."),
    ]
    assert all(child.score is None for child in (*one.children, *two.children))
    assert list(tree) == [one, *one.children, two, *two.children]
    counts = chunker.counts
    assert (counts.documents, counts.parents, counts.chunks) == (1, 2, 10)
    assert (counts.words, counts.sentences) == (18, 6)
    assert (counts.divided, counts.shortened) == (0, 0)


def test_mg_needs_no_model_and_gives_no_scores() -> None:
    tree = Chunker(Settings("mg", 4)).chunk("one two.\n\nthree four five.")
    assert texts(tree.parents) == ["one two.\n\n", "three four five."]
    first, second = tree.parents
    assert [(child.level, child.text) for child in first.children] == [
        (2, "one "), (2, "two.\n\n"),
    ]  # fmt: skip
    assert [(child.level, child.text) for child in second.children] == [
        (1, "three four "), (1, "five."), (2, "three "), (2, "four "), (2, "five."),
    ]  # fmt: skip
    assert {chunk.score for chunk in tree} == {None}


def test_children_equal_to_their_parent_are_left_out() -> None:
    [parent] = Chunker(Settings("mg", 8)).chunk("one two").parents
    assert parent.children == ()


def test_an_empty_document_has_no_chunks_and_is_counted() -> None:
    chunker = Chunker(Settings(), Exclaimed())
    assert chunker.chunk("").parents == ()
    assert (chunker.counts.documents, chunker.counts.parents) == (1, 0)


def test_a_blank_document_is_one_parent() -> None:
    [parent] = Chunker(Settings(), Exclaimed()).chunk(" \n\n").parents
    assert (parent.start, parent.end, parent.words, parent.score) == (0, 3, 0, None)


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(DocumentError, match=r"lone surrogate U\+D800 at character 3"):
        Chunker(Settings("mg")).chunk("abc\ud800")


def test_tokens_and_characters_as_units() -> None:
    for unit in ("tokens", "characters"):
        tree = Chunker(Settings("lg", 40, unit), Exclaimed()).chunk(TEXT)
        # 13, 14 and 13 characters are 40.
        assert texts(tree.parents)[0] == TEXT[:27]
        assert max(parent.end - parent.start for parent in tree.parents) <= 40


def test_the_context_shortens_windows_and_divides_sentences() -> None:
    scorer = Exclaimed(context=16)
    chunker = Chunker(Settings("lg", 9), scorer)
    tree = chunker.chunk("Ann ran off. Bob sat down! " + "x" * 40 + ".")
    # 13 and 14 tokens do not share a window of 16; 41 are divided into 16, 16 and 9.
    assert texts(tree.parents) == [
        "Ann ran off. ",
        "Bob sat down! ",
        "x" * 16,
        "x" * 16,
        "x" * 8 + ".",
    ]
    assert all(len(window.ids) <= 16 for window in scorer.windows)
    assert chunker.counts.divided == 1
    # Nine words would hold everything: but for the last, each window was shortened.
    assert chunker.counts.shortened == 4


def test_a_window_keeps_the_context_where_a_token_spans_a_sentences_end() -> None:
    # As in Llama 3, ".\n\n" is one token; a window is read without such tokens, for the text before
    # a boundary must not tell that it goes on, and so has more tokens than its sentences.
    class Merging(Exclaimed):
        def __init__(self, context: int) -> None:
            super().__init__(context)
            self.encode = lambda texts: characters([text.replace(".\n\n", "¶") for text in texts])

    scorer = Merging(context=20)
    tree = Chunker(Settings("lg", 30), scorer).chunk("ab.\n\n" * 30)
    assert "".join(parent.text for parent in tree.parents) == "ab.\n\n" * 30
    assert max(len(window.ids) for window in scorer.windows) <= 20


def ids(tree: Tree) -> list[str]:
    return [chunk.id for chunk in tree]


def test_ids_are_stable_and_distinct() -> None:
    def run(document: Document, theta: int = 12, method: str = "lgmgc") -> list[str]:
        return ids(Chunker(Settings(method, theta), Exclaimed()).chunk(document))

    first = run(Document("a", TEXT))
    assert run(Document("a", TEXT, {"author": "x"})) == first
    assert all(len(key) == 16 and int(key, 16) >= 0 for key in first)
    assert len(set(first)) == len(first) == 10
    others = [
        run(Document("b", TEXT)),
        run(Document("a", TEXT + " ")),
        run(Document("a", TEXT), theta=13),
        run(Document("a", TEXT), method="lg"),
    ]
    assert all(not set(first) & set(other) for other in others)


def test_equal_sentences_have_ids_of_their_own() -> None:
    tree = Chunker(Settings("mg", 4)).chunk("same same.\n\n" * 50)
    assert len(set(ids(tree))) == len(ids(tree))


def documents(count: int, taken: list[int]) -> Iterator[Document]:
    for number in range(count):
        taken.append(number)
        yield Document(f"d{number}", TEXT * (1 + number % 4))


def test_chunk_many_takes_only_what_batches_need() -> None:
    taken: list[int] = []
    chunker = Chunker(Settings("lg", 9), Exclaimed(), batch_tokens=1)
    trees = chunker.chunk_many(documents(1_000, taken))
    assert taken == []
    assert next(trees).document.id == "d0"
    assert len(taken) <= 2
    assert next(trees).document.id == "d1"
    assert len(taken) <= 4


def test_chunk_many_is_bounded_where_no_batch_fills() -> None:
    taken: list[int] = []
    next(Chunker(Settings("mg", 9)).chunk_many(documents(1_000, taken)))
    assert len(taken) <= 256


@pytest.mark.parametrize("batch_tokens", [1, 100, 4_096])
def test_chunk_many_keeps_the_order_and_the_cuts_of_each_alone(batch_tokens: int) -> None:
    chunker = Chunker(Settings("lgmgc", 9), Exclaimed(), batch_tokens)
    given = list(documents(20, []))
    trees = list(chunker.chunk_many(given))
    assert [tree.document.id for tree in trees] == [document.id for document in given]
    alone = [Chunker(Settings("lgmgc", 9), Exclaimed()).chunk(document) for document in given]
    assert trees == alone
    assert chunker.counts.documents == 20


def test_plain_texts_get_their_numbers_as_ids() -> None:
    trees = list(Chunker(Settings("mg")).chunk_many(["a", Document("x", "b"), "c"]))
    assert [tree.document.id for tree in trees] == ["0", "x", "2"]


@pytest.mark.parametrize("method", ["lgmgc", "mg"])
def test_progress_shares_of_a_document_add_up_to_one(method: str) -> None:
    shares: defaultdict[str, float] = defaultdict(float)

    def note(document: Document, share: float) -> None:
        assert 0 <= share <= 1
        shares[document.id] += share

    given = [*documents(9, []), Document("empty", ""), Document("blank", " \n")]
    list(Chunker(Settings(method, 9), Exclaimed(), 100).chunk_many(given, note))
    assert set(shares) == {document.id for document in given}
    assert all(share == pytest.approx(1) for share in shares.values())
