from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document, Tree
from lgmgc.report.trace import Scores, Trace, scores_of_cuts, traced
from tests.fake import SCORES, TEXTS, FakeScorer
from tests.report.pages import book, cut

TEXT = "One is here. Two is here. Three is here. Four is here. Five is here. Six is here."


def test_by_hand() -> None:
    # θ = 9 words is three sentences; the model likes the second end of every window best.
    scorer = FakeScorer(lambda window: [-5.0, -1.0, -4.0][: len(window.ends)])
    settings = Settings("lg", 9)
    method, trace = traced(settings.plan)
    tree = Chunker(settings, scorer, method=method).chunk(TEXT)
    assert [parent.end for parent in tree.parents] == [26, 55, len(TEXT)]
    scores = trace.scores(tree, first=False)
    assert scores is not None
    # Windows 1–3 and 3–5; 41 was the last of the first window, then the first of the second. What
    # is left behind 55 fits in θ and is not asked about.
    assert scores == Scores(
        "log p([EOS])", {13: -5.0, 26: -1.0, 41: -5.0, 55: -1.0, 69: -4.0}, True
    )


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("method", ["lg", "global"])
def test_the_score_of_a_cut_is_the_parents_own(name: str, method: str) -> None:
    tree, scores = cut(TEXTS[name], method, 20)
    known = scores.at if scores else {}
    for parent in tree.parents:
        if parent.score is not None:
            assert known[parent.end] == parent.score


def test_where_chains_of_cuts_meet_those_count_that_decided() -> None:
    text = book(12_000)  # long enough for three chains at θ = 100
    tree, scores = cut(text, "lg", 100)
    scorer = FakeScorer(SCORES["random"])
    alone = Chunker(Settings("lg", 100), scorer).chunk(text)
    assert [parent.end for parent in alone.parents] == [parent.end for parent in tree.parents]
    assert scores is not None
    assert {
        p.end: p.score for p in tree.parents if p.score is not None
    }.items() <= scores.at.items()
    assert len(scores.at) > 1.5 * len(tree.parents)


@given(st.lists(st.floats(-30, 0), min_size=1, max_size=8))
def test_windows_in_any_order(values: list[float]) -> None:
    document = Document("a", "x" * 20)
    tree = Tree(document, (Chunk(document, "", 0, 0, 5, 1), Chunk(document, "", 0, 5, 20, 1)))
    ends = list(range(5, 6 + len(values)))
    decided = (ends, np.array([values]))
    lost = ([4, *range(5, 6 + len(values))], np.zeros((1, len(values) + 1)))
    for order in ([decided, lost], [lost, decided]):
        found = Trace(order, ("eos",)).scores(tree, first=False)
        assert found is not None
        assert found.at == {5: 0.0} | dict(zip(ends[1:], values, strict=True))


def test_several_signals_are_standardised() -> None:
    # The fake's second signal is the first one shifted and mirrored: their sum is 0 everywhere.
    _, scores = cut(TEXT * 3, "lg", 9, signal="eos+topic")
    assert scores is not None
    assert scores.label == "eos + topic, standardised"
    assert all(abs(value) < 1e-9 for value in scores.at.values())


def test_what_was_not_asked_has_no_scores() -> None:
    assert cut(TEXT, "recursive", 9)[1] is None
    assert cut("", "lg", 9)[1] is None
    tree, scores = cut(TEXT * 3, "perplexity", 9)
    assert scores is not None
    assert scores.label == "loss of the sentence"
    assert scores_of_cuts(tree, "score") is None
    settings = Settings("lg", 9, options=Options())
    nothing = Chunker(settings, FakeScorer(SCORES["nan"])).chunk(TEXT)
    assert scores_of_cuts(nothing, "score") is None
