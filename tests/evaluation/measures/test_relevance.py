import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenize import tokenize

from lgmgc.errors import UsageError
from lgmgc.evaluation.benchmark import Evidence
from lgmgc.evaluation.measures import relevance
from lgmgc.evaluation.measures.relevance import Chunking, ceiling, containing, folded, words

EMMA = Path(__file__).parents[4] / "shared/data/gutenqa_emma"


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("“Well!” said he—‘no’…", "\"Well!\" said he - 'no'..."),
        ("Mr. Knightley\r\n\r\nwent", "mr knightley went"),
        ("ﬁne", "fine"),
    ],
)
def test_what_is_folded_together(text: str, alike: str) -> None:
    assert folded(text) == folded(alike)


def test_words_stay_apart() -> None:
    assert folded("well-bred") != folded("wellbred")
    assert containing([folded("a well-bred man")], folded("well bred")) == 0


def test_each_rule_by_hand() -> None:
    chunking = Chunking(["It’s late.", "He said:\n“It’s so”, and it's done."])
    plain, typographic = Evidence('"it\'s so"'), Evidence("“It’s so”")
    assert [chunking.relevant(plain, rule) for rule in ("lowered", "folded")] == [None, 1]
    assert [chunking.relevant(typographic, rule) for rule in ("lowered", "folded")] == [1, 1]
    # Of "late he said it s so" the first chunk has "it s" in order, the second "he said it s so".
    assert chunking.relevant(Evidence("Late, he said it’s so"), "rouge") == 1
    assert chunking.relevant(Evidence("nothing alike"), "rouge") is None


@pytest.mark.parametrize("rule", ["lowered", "folded", "rouge"])
def test_nothing_contains_no_evidence(rule: str) -> None:
    assert Chunking(["a"]).relevant(Evidence(""), rule) is None  # type: ignore[arg-type]
    assert Chunking([]).relevant(Evidence("a"), rule) is None  # type: ignore[arg-type]


def test_repeated_evidence_is_told_apart_by_its_span() -> None:
    text = "Yes. No. Yes. No."
    chunking = Chunking.of(text, [(0, 5), (5, 14), (9, 17)])
    second = Evidence("Yes.", span=(9, 13))
    assert [chunking.relevant(second, rule) for rule in ("lowered", "folded", "rouge")] == [0, 0, 0]
    # Two chunks cover it: the first counts.
    assert chunking.relevant(second, "span") == 1


def test_a_span_is_covered_whole_but_for_white_space() -> None:
    chunking = Chunking.of("One. Two. Three.", [(0, 5), (5, 10), (10, 16)])
    assert chunking.relevant(Evidence(" Two. ", span=(4, 10)), "span") == 1
    assert chunking.relevant(Evidence("Two. Three", span=(5, 15)), "span") is None
    assert chunking.relevant(Evidence("2. Three", span=(5, 15)), "span") is None


def test_a_span_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="use the rule 'folded'"):
        Chunking(["a"]).relevant(Evidence("a", span=(0, 1)), "span")
    with pytest.raises(UsageError, match="use the rule 'folded'"):
        Chunking.of("a", [(0, 1)]).relevant(Evidence("a"), "span")


def test_without_rouge_score_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    relevance._scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(UsageError, match=r"pip install 'lgmgc\[eval\]'"):
        Chunking(["a"]).relevant(Evidence("a"), "rouge")


def test_ceiling() -> None:
    assert ceiling([None, None]) == 0.0
    assert ceiling([0, 2, None]) == pytest.approx(2 / 3)


@given(st.text(st.characters(codec="ascii")))
def test_words_of_ascii_are_those_of_rouge_score(text: str) -> None:
    assert words(text) == tokenize(text, None)


some_words = st.lists(st.sampled_from("abcdefg"), max_size=12).map(" ".join)


@given(st.lists(some_words, max_size=8), some_words)
def test_the_bound_never_changes_which_chunk_is_most_alike(
    chunks: list[str], evidence: str
) -> None:
    scorer = RougeScorer(["rougeL"])
    recalls = [scorer.score(evidence, chunk)["rougeL"].recall for chunk in chunks]
    expected = recalls.index(max(recalls)) if any(recalls) else None
    assert Chunking(chunks).relevant(Evidence(evidence), "rouge") == expected


@pytest.mark.skipif(not EMMA.exists(), reason="needs ../shared/data/gutenqa_emma")
@pytest.mark.parametrize(
    ("name", "lower", "fold"),
    [("chunks_lumberchunker_gemini", 26, 29), ("chunks_fixed_450", 24, 26)],
)
def test_emma(name: str, lower: int, fold: int) -> None:
    def column(file: str, key: str) -> list[str]:
        return [str(json.loads(line)[key]) for line in (EMMA / file).open(encoding="utf-8")]

    chunking = Chunking(column(f"{name}.jsonl", "Chunk"))
    questions = [Evidence(text) for text in column("questions.jsonl", "Chunk Must Contain")]
    found = {
        rule: [chunking.relevant(evidence, rule) for evidence in questions]
        for rule in ("lowered", "folded", "rouge")
    }
    assert ceiling(found["lowered"]) == lower / 30
    assert ceiling(found["folded"]) == fold / 30
    # Where a chunk contains the evidence, that is the one that is most like it.
    assert all(
        b == c for b, c in zip(found["folded"], found["rouge"], strict=True) if b is not None
    )
