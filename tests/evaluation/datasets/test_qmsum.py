from pathlib import Path

import pytest

from lgmgc.errors import DocumentError
from lgmgc.evaluation.benchmark import Evidence, Question
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import json_lines, keeps_the_laws, shared

Spans = list[list[object]]


def meeting(topics: list[Spans], queries: list[Spans]) -> dict[str, object]:
    """Five turns of five code points: "a: 0\n" and so on."""
    return {
        "meeting_transcripts": [{"speaker": "a", "content": f" {k} "} for k in range(5)],
        "topic_list": [{"topic": "t", "relevant_text_span": spans} for spans in topics],
        "specific_query_list": [
            {"query": f"q{k}", "answer": f"a{k}", "relevant_text_span": spans}
            for k, spans in enumerate(queries, 1)
        ],
        "general_query_list": [{"query": "all?", "answer": "all."}],
    }


def test_a_meeting_by_hand(tmp_path: Path) -> None:
    # Turn 0 stands before the first topic, turn 3 between the two: both go with what follows.
    row = meeting([[["1", "2"]], [["4", "4"]]], [[["0", "1"], [4, 4]], []])
    benchmark = load_benchmark("qmsum", json_lines(tmp_path / "val.jsonl", [row]))
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "QMSum, validation split: 1 meeting, 2 questions"
    assert benchmark.documents[0].text == "a: 0\na: 1\na: 2\na: 3\na: 4"
    assert benchmark.units == {"val/1": (5, 10, 15, 20, 24)}
    assert benchmark.boundaries == {"val/1": ((0, 15), (15, 24))}
    assert benchmark.questions == (
        Question(
            "val/1/1", "val/1", "q1", ("a1",),
            (Evidence("a: 0\na: 1", (0, 9), "val/1"), Evidence("a: 4", (20, 24), "val/1")),
        ),
        Question("val/1/2", "val/1", "q2", ("a2",)),
    )  # fmt: skip


def test_topics_that_overlap_or_end_early(tmp_path: Path) -> None:
    row = meeting([[[0, 2]], [[1, 1], [3, 3]]], [])
    benchmark = load_benchmark("qmsum", json_lines(tmp_path / "mine.jsonl", [row]))
    assert benchmark.title == "QMSum's layout, mine.jsonl: 1 meeting, 0 questions"
    # Ends after turns 2, 1 and 3; what is left is a segment.
    assert benchmark.boundaries == {"mine/1": ((0, 10), (10, 15), (15, 20), (20, 24))}


def test_only_meetings_that_are_asked_about(tmp_path: Path) -> None:
    rows = [meeting([], [[]]), meeting([], [[]]), meeting([], [[]])]
    path = json_lines(tmp_path / "val.jsonl", rows)
    benchmark = load_benchmark("qmsum", path, limit=2)
    assert keeps_the_laws(benchmark)
    assert [each.id for each in benchmark.documents] == ["val/1", "val/2"]
    assert benchmark.boundaries.keys() == {"val/1", "val/2"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (meeting([[[0, 5]]], []), "line 2, topic_list 1 needs rising ranges of turns below 5"),
        (meeting([], [[], [[2, 1]]]), "line 2, specific_query_list 2 needs rising ranges of turns"),
        (meeting([], [[[1]]]), "line 2, specific_query_list 1 needs a list of pairs"),
        ({"meeting_transcripts": [{"speaker": "a"}]}, "line 2, meeting_transcripts 1 needs text"),
        ({"meeting_transcripts": []}, "line 2 needs a list of objects in the field 'topic_list'"),
    ],
)
def test_malformed_rows(tmp_path: Path, row: dict[str, object], message: str) -> None:
    path = json_lines(tmp_path / "val.jsonl", [meeting([], []), row])
    with pytest.raises(DocumentError) as error:
        load_benchmark("qmsum", path)
    assert str(error.value).startswith(f"{path}: {message}")


def test_no_meeting(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="holds no meeting"):
        load_benchmark("qmsum", json_lines(tmp_path / "val.jsonl", []))


def test_the_validation_split() -> None:
    benchmark = load_benchmark("qmsum", shared("qmsum_val"))
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "QMSum, validation split: 35 meetings, 237 questions"
    # The first meeting: 881 turns, topics 0 to 134, 135 to 700 and 701 to 880.
    units = benchmark.units["val/1"]
    assert len(units) == 881
    assert [end for _, end in benchmark.boundaries["val/1"]] == [units[134], units[700], units[880]]
    # Its first question: turns 459 to 530.
    (evidence,) = benchmark.questions[0].evidence
    assert evidence.span == (units[458], units[530] - 1)
