import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError, ModelError, UsageError
from lgmgc.retrieval import Added, Counts, Hit, Index
from lgmgc.retrieval.embedding import VectorType
from lgmgc.retrieval.index import BATCH, Mode
from lgmgc.retrieval.rows import pieces

from .fake import WORDS, Bag, Plane, Shape, corpora, dump, make_tree, paragraphs, trees

MODES: tuple[Mode, ...] = ("dense", "lexical", "hybrid")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.db"


def fresh() -> Iterator[Path]:
    """For hypothesis, which runs many examples in one test."""
    with TemporaryDirectory() as folder:
        yield Path(folder) / "index.db"


def brief(hits: list[Hit]) -> list[tuple[str, str, str]]:
    return [(hit.document, hit.parent.text, hit.piece.text) for hit in hits]


def test_by_hand(path: Path) -> None:
    # "ab" and "cd" are parents with two children each. Cosines with (1, 0):
    # ab 0.6, a 0.8, b 0; cd 0.28, c −1, d 0.96. So cd wins by d, ab comes after by a.
    plane = Plane(
        {
            "ab": (0.6, 0.8),
            "a": (0.8, 0.6),
            "b": (0, 1),
            "cd": (0.28, 0.96),
            "c": (-1, 0),
            "d": (0.96, 0.28),
            "query": (1, 0),
            "other": (0, -2),  # not of length 1: the cosine is asked for
        }
    )
    shapes = [((0, 2), [(1, 0, 1), (1, 1, 2)]), ((2, 4), [(1, 2, 3), (2, 3, 4)])]
    with Index.open(path, plane, create=True) as index:
        assert index.add([make_tree("doc", "abcd", shapes)]) == Added(added=1, pieces=6)
        first, second = index.search("query", 5)
        assert (first.rank, first.document, first.reading, first.text) == (1, "doc", (2, 4), "cd")
        assert first.score == pytest.approx(0.96)
        assert (first.parent.id, first.parent.text, first.parent.level) == ("doc:0:2:4", "cd", 0)
        assert (first.piece.id, first.piece.text, first.piece.level) == ("doc:2:3:4", "d", 2)
        assert (first.piece.start, first.piece.end, first.piece.view) == (3, 4, None)
        assert (second.rank, second.parent.text, second.piece.text) == (2, "ab", "a")
        assert second.score == pytest.approx(0.8)
        assert index.search("query", 1) == [first]
        # Level 0 plus 0.7: ab 1.3, cd 0.98.
        bonus = index.search("query", level_bonus=(0.7,))
        assert [hit.score for hit in bonus] == pytest.approx([1.3, 0.98])
        assert brief(bonus) == [("doc", "ab", "ab"), ("doc", "cd", "cd")]
        # (0, −1): c 0 and d −0.28 against a −0.6 and b −1.
        assert brief(index.search("other")) == [("doc", "cd", "c"), ("doc", "ab", "a")]
        # A vector stands in for the query, whatever its length.
        assert index.search("other", vector=np.array([5.0, 0.0])) == [first, second]
        assert index.counts() == Counts(documents=1, parents=2, pieces=6, words=1)
        assert index.document_text("doc") == "abcd"


def test_lexical_by_hand(path: Path) -> None:
    texts = ["red boat\n", "red red\n", "blue sail\n"]
    with Index.open(path, create=True) as index:
        # Parents without children, so BM25 is over three texts of two words each.
        shapes: list[Shape] = [((0, 9), []), ((9, 17), []), ((17, 27), [])]
        index.add([make_tree("doc", "".join(texts), shapes), paragraphs("few", "x", "y", "z w")])
        # One of 8 pieces has "sail": idf = ln((8 − 1 + 0.5) / (1 + 0.5)) = ln 5. With k1 = 1.2,
        # b = 0.75 and 1.5 words on average: 2.2 / (1 + 1.2 · (0.25 + 0.75 · 2 / 1.5)) · ln 5.
        [hit] = index.search("SAIL!", mode="lexical")
        assert hit.parent.text == "blue sail\n"
        assert hit.score == pytest.approx(np.log(5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.5)))
        found = index.search("red", mode="lexical")
        assert [hit.parent.text for hit in found] == texts[1::-1]  # twice, then once
        assert index.search("green", mode="lexical") == []
        assert index.search("", mode="lexical") == []


def test_lexical_takes_the_best_piece_and_chinese(path: Path) -> None:
    text = "今天天气很好我们去公园吧"
    with Index.open(path, create=True) as index:
        index.add([make_tree("d", text, [((0, 12), [(1, 0, 6), (1, 6, 12)])])])
        [hit] = index.search("公园", mode="lexical")
        assert (hit.parent.text, hit.piece.text, hit.piece.level) == (text, text[6:], 1)


def test_hybrid_by_hand(path: Path) -> None:
    plane = Plane({"ox\n": (1, 0), "hen\n": (0.8, 0.6), "cow\n": (0, 1), "hen": (1, 0)})
    with Index.open(path, plane, create=True) as index:
        index.add([paragraphs("d", "ox", "hen", "cow")])
        # Dense: ox, hen, cow. Lexical: hen alone.
        found = index.search("hen", mode="hybrid")
        assert [hit.parent.text for hit in found] == ["hen\n", "ox\n", "cow\n"]
        assert [hit.score for hit in found] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 63])
        assert len(index.search("hen", 2, mode="hybrid")) == 2


def test_windows_and_views(path: Path) -> None:
    tree = make_tree(
        "d", "One. Two. Three.", [((0, 5), []), ((5, 10), [(1, 5, 9)]), ((10, 16), [])]
    )
    one, two, three = tree.parents
    tree = replace(
        tree,
        parents=(
            replace(one, window=(0, 10)),
            replace(two, children=(replace(two.children[0], view="A proposition about ships"),)),
            replace(three, window=(5, 16), view="Nothing"),
        ),
    )
    bag = Bag()
    with Index.open(path, bag, create=True) as index:
        index.add([tree])
        assert bag.texts == ["One. ", "Two. ", "A proposition about ships", "Nothing"]
        [hit] = index.search("ships", mode="lexical")
        assert (hit.piece.text, hit.piece.view) == ("Two.", "A proposition about ships")
        assert (hit.reading, hit.text) == ((5, 10), "Two. ")
        [hit] = index.search("one", mode="lexical")
        assert (hit.reading, hit.text, hit.parent.text) == ((0, 10), "One. Two. ", "One. ")
        assert index.search("three", mode="lexical") == []
        [hit] = index.search("nothing", mode="lexical")
        assert hit.text == "Two. Three."
        index.remove("d")
    assert not any(rows for table, rows in dump(path).items() if table != "meta")


def test_unchanged_documents_are_not_embedded_again(path: Path) -> None:
    bag = Bag(64)
    one, two = paragraphs("one", "sea boat", "sail"), paragraphs("two", "wind")
    seen: list[str] = []
    with Index.open(path, bag, create=True) as index:
        assert index.add([one], "θ = 300") == Added(1, 0, 0, 4)
        assert index.add([one, two], "θ = 300") == Added(1, 0, 1, 1)
        assert bag.texts == [*(piece.text for _, piece in pieces(one)), "wind\n"]
        assert index.has("one", one.document.content_hash, "θ = 300")
        assert not index.has("one", one.document.content_hash, "θ = 200")
        assert not index.has("one", two.document.content_hash, "θ = 300")
        assert not index.has("three", one.document.content_hash, "θ = 300")
        changed = paragraphs("two", "tide")
        told = index.add([one, changed], "θ = 300", lambda document: seen.append(document.id))
        assert told == Added(0, 1, 1, 1)
        assert seen == ["one", "two"]
        assert index.add([changed], "θ = 200") == Added(0, 1, 0, 1)
        assert index.document_text("two") == "tide\n"
        assert brief(index.search("tide", 1)) == [("two", "tide\n", "tide\n")]


def test_the_later_of_one_id_stays(path: Path) -> None:
    old, new = paragraphs("d", "sea"), paragraphs("d", "boat")
    with Index.open(path, Bag(), create=True) as index:
        assert index.add([old, new]) == Added(1, 1, 0, 2)
        assert index.document_text("d") == "boat\n"
        assert index.add([new, old, old]) == Added(0, 1, 2, 1)
        assert index.document_text("d") == "sea\n"


def test_documents_are_embedded_by_themselves_and_large_ones_in_batches(path: Path) -> None:
    bag = Bag()
    small = [paragraphs(f"s{k}", "sea boat") for k in range(3)]  # 3 pieces each
    large = paragraphs("large", *["x"] * (2 * BATCH + 5))
    with Index.open(path, bag, create=True) as index:
        index.add([*small, large])
        assert [len(call) for call in bag.calls] == [3, 3, 3, 1024, 1024, 5]
        assert index.counts() == Counts(4, 3 + 2053, 9 + 2053, 6 + 2053)


def test_empty_documents(path: Path) -> None:
    empty = Tree(Document("e", ""), ())
    with Index.open(path, Bag(), create=True) as index:
        for mode in MODES:
            assert index.search("sea", mode=mode) == []
        assert index.add([]) == Added()
        assert index.add([empty]) == Added(added=1)
        assert index.search("sea") == []
        index.add([paragraphs("d", "sea")])
        assert brief(index.search("sea")) == [("d", "sea\n", "sea\n")]
        assert index.add([empty]) == Added(skipped=1)
        assert index.prune({"e"}) == 1
        assert index.search("sea") == []


def test_ten_good_children_of_one_parent_leave_room_for_others(path: Path) -> None:
    text = "sea " * 10 + "boat sail wind rope "
    shapes = [((0, 40), [(1, k, k + 4) for k in range(0, 40, 4)])]
    shapes += [((a, b), []) for a, b in [(40, 45), (45, 50), (50, 55), (55, 60)]]
    with Index.open(path, Bag(64), create=True) as index:
        index.add([make_tree("d", text, shapes)])
        found = index.search("sea", 5)
        assert len({hit.parent.id for hit in found}) == 5
        assert found[0].parent.text == "sea " * 10


def test_changes_are_seen_by_the_next_search(path: Path) -> None:
    with Index.open(path, Bag(64), create=True) as one, Index.open(path, Bag(64)) as two:
        assert one.search("sea") == two.search("sea") == []
        one.add([paragraphs("d", "sea")])
        assert len(one.search("sea")) == len(two.search("sea")) == 1
        two.add([paragraphs("d", "boat"), paragraphs("e", "sea boat")])
        assert one.search("boat") == two.search("boat")
        assert {hit.document for hit in one.search("boat")} == {"d", "e"}
        one.remove("e")
        assert {hit.document for hit in two.search("boat")} == {"d"}
        assert not one.remove("e")


@settings(max_examples=25, deadline=None)
@given(corpora(), st.sampled_from(["float32", "int8"]), st.data())
def test_neither_order_nor_history_matters(
    corpus: list[Tree], vectors: VectorType, data: st.DataObject
) -> None:
    query = " ".join(data.draw(st.lists(st.sampled_from(WORDS), max_size=3)))
    k = data.draw(st.integers(1, 8))
    shuffled = data.draw(st.permutations(corpus))
    others = [data.draw(trees(name)) for name in "bdfhj"]
    parents = sum(len(tree.parents) for tree in corpus)
    for path in fresh():
        with Index.open(path, Bag(), create=True, vectors=vectors) as index:
            index.add(corpus)
            expected = [index.search(query, k, mode=mode) for mode in MODES]
            counts = index.counts()
    for path in fresh():
        with Index.open(path, Bag(), create=True, vectors=vectors) as index:
            index.add(others, "other")
            index.search(query)
            for tree in shuffled:
                index.add([tree])
            index.prune({tree.document.id for tree in corpus})
            assert [index.search(query, k, mode=mode) for mode in MODES] == expected
            assert index.counts() == counts
    for mode, hits in zip(MODES, expected, strict=True):
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert len({hit.parent.id for hit in hits}) == len(hits)
        if mode != "lexical":
            assert len(hits) == min(k, parents)
        order = [(-hit.score, hit.document, hit.parent.start) for hit in hits]
        assert order == sorted(order)


@settings(max_examples=25, deadline=None)
@given(corpora(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), st.integers(1, 8))
def test_lexical_equals_brute_force(corpus: list[Tree], words: list[str], k: int) -> None:
    """BM25 by its formula, as FTS5 states it, over every piece; then the best of each parent."""
    texts = [piece.text.split() for tree in corpus for _, piece in pieces(tree)]
    average = sum(map(len, texts)) / max(1, len(texts))
    words = list(dict.fromkeys(words))

    def bm25(text: list[str]) -> float:
        total = 0.0
        for word in words:
            having = sum(word in other for other in texts)
            idf = max(np.log((len(texts) - having + 0.5) / (having + 0.5)), 1e-6)
            count = text.count(word)
            norm = count + 1.2 * (1 - 0.75 + 0.75 * len(text) / average)
            total += idf * count * 2.2 / norm
        return float(total)

    scores = {}
    for tree in corpus:
        for parent in tree.parents:
            matching = [
                bm25(piece.text.split())
                for piece in (parent, *parent.children)
                if set(piece.text.split()) & set(words)
            ]
            if matching:
                scores[parent.id] = max(matching)
    for path in fresh():
        with Index.open(path, create=True) as index:
            index.add(corpus)
            found = index.search(" ".join(words), k, mode="lexical")
    assert len(found) == min(k, len(scores))
    assert [hit.score for hit in found] == pytest.approx(
        sorted(scores.values(), reverse=True)[:k], abs=1e-9
    )
    for hit in found:
        assert hit.score == pytest.approx(scores[hit.parent.id], abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_orphans(data: st.DataObject) -> None:
    final: dict[str, Tree] = {}
    for path in fresh():
        with Index.open(path, Bag(), create=True) as index:
            for number in range(data.draw(st.integers(1, 4))):
                some = data.draw(corpora(3))
                # Of its own, or equal texts that are chunked otherwise would be skipped.
                index.add(some, f"configuration {number}")
                final.update({tree.document.id: tree for tree in some})
                if data.draw(st.booleans()):
                    gone = data.draw(st.sampled_from("abcdefg"))
                    assert index.remove(gone) == (final.pop(gone, None) is not None)
            if data.draw(st.booleans()):
                keep = set(data.draw(st.lists(st.sampled_from("abcdefg"))))
                assert index.prune(keep) == len(final.keys() - keep)
                final = {name: tree for name, tree in final.items() if name in keep}
        tables = dump(path)
    documents = {row[0]: row[1] for row in tables["documents"]}
    assert sorted(documents.values()) == sorted(final)  # type: ignore[type-var]
    assert {row[0] for row in tables["vectors"]} == documents.keys()
    assert {row[1] for row in tables["chunks"]} <= documents.keys()
    chunks = {row[0] for row in tables["chunks"]}
    assert len(chunks) == sum(1 for tree in final.values() for _ in tree)
    assert {row[2] for row in tables["chunks"]} <= chunks
    assert {row[0] for row in tables["terms_docsize"]} == chunks
    # Every word of every piece, no more: a term's row is (term, piece, column, place).
    words = [word for tree in final.values() for piece in tree for word in piece.text.split()]
    assert sorted(str(row[0]) for row in tables["seen"]) == sorted(words)
    assert {row[1] for row in tables["seen"]} <= chunks


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_text_can_be_searched_for(query: str) -> None:
    for path in fresh():
        with Index.open(path, create=True) as index:
            index.add([paragraphs("d", "sea boat", "NEAR AND OR NOT")])
            index.search(query, mode="lexical")


def test_int8_finds_the_same(path: Path) -> None:
    random = np.random.default_rng(3)
    names = [f"{k}" for k in range(500)]
    rows = dict(zip((f"{name}\n" for name in names), random.normal(size=(500, 384)), strict=True))

    class Table(Plane):
        identity = "table"
        dimensions = 384

        def passages(self, texts: object) -> np.ndarray:
            return np.array([rows[text] for text in texts], np.float32).reshape(-1, 384)  # type: ignore[attr-defined]

        queries = passages

    exact, small = path, path.with_name("small.db")
    for file, kind in ((exact, "float32"), (small, "int8")):
        with Index.open(file, Table({}), create=True, vectors=kind) as index:  # type: ignore[arg-type]
            index.add([paragraphs("d", *names)])
    assert small.stat().st_size < exact.stat().st_size - 500 * 384 * 2.5
    with Index.open(exact) as one, Index.open(small) as two:
        for _ in range(50):
            query = random.normal(size=384)
            [best, *_] = one.search("", vector=query)
            [same, *_] = two.search("", vector=query)
            # A step is max|row| / 127, about 0.0012; 384 roundings add up to about 0.001.
            assert same.score == pytest.approx(best.score, abs=0.005)
            assert best.parent.id in {hit.parent.id for hit in two.search("", 2, vector=query)}


def test_without_embedder(path: Path) -> None:
    with Index.open(path, create=True) as index:
        assert (index.embedder_name, index.embedder_identity) == (None, None)
        index.add([paragraphs("d", "sea")])
        with pytest.raises(UsageError, match="was made without an embedder; search with mode lexi"):
            index.search("sea")
    with pytest.raises(UsageError) as error:
        Index.open(path, Bag())
    assert str(error.value) == (
        f"{path}: was made with no embedder, not with bag (bag-1); give what it was made with, or "
        "index into another file"
    )


def test_another_embedder_is_refused(path: Path) -> None:
    with Index.open(path, Bag(), create=True) as index:
        index.add([paragraphs("d", "sea")])
    with pytest.raises(UsageError) as error:
        Index.open(path, Bag(identity="bag-2"), create=True)
    assert str(error.value) == (
        f"{path}: was made with the embedder bag (bag-1), not with bag (bag-2); give what it was "
        "made with, or index into another file"
    )
    with Index.open(path) as index:
        assert (index.embedder_name, index.embedder_identity) == ("bag", "bag-1")
        assert len(index.search("sea", mode="lexical")) == 1
        with pytest.raises(UsageError, match="needs its embedder bag for this"):
            index.search("sea")
        with pytest.raises(
            UsageError, match="made with the embedder bag; open it with that one to"
        ):
            index.add([paragraphs("e", "sea")])


def test_what_cannot_be_asked_or_stored(path: Path) -> None:
    with Index.open(path, Bag(), create=True) as index:
        with pytest.raises(UsageError, match="ask for at least 1 parent"):
            index.search("sea", 0)
        with pytest.raises(ModelError, match="bag gave rows of shape"):
            index.search("sea", vector=np.zeros(3))
        with pytest.raises(UsageError, match="holds no document x"):
            index.document_text("x")
        with pytest.raises(DocumentError, match="lone surrogate"):
            index.add([paragraphs("\ud800", "sea")])
        assert index.counts() == Counts(0, 0, 0, 0)


def test_threads_share_an_index(path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with Index.open(path, Bag(), create=True) as index, ThreadPoolExecutor(4) as pool:
        index.add([paragraphs("d", "sea boat", "sail wind")])
        expected = index.search("sail")
        assert list(pool.map(lambda _: index.search("sail"), range(40))) == [expected] * 40


def test_the_import_is_light() -> None:
    code = "import lgmgc.retrieval, sys; print({'torch', 'transformers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
