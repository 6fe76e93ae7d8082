import json
import math
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from lgmgc.chunkers.chunker import Settings
from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.evaluation import run as module
from lgmgc.evaluation.benchmark import Benchmark, Evidence, Question
from lgmgc.evaluation.cutting import Cut, cut_at_random
from lgmgc.evaluation.experiment import Experiment, Row, Source
from lgmgc.evaluation.results import Results, RowResult
from lgmgc.evaluation.run import load_all, run
from tests.evaluation.made import ChosenEmbedder, FakeModels

TEXT = "Ab cd ef.  " * 8  # 8 sentences of 3 words
QUESTIONS = (
    Question("1", "d", "Who?", answers=("yes",), evidence=(Evidence("ef.  Ab", (8, 15), "d"),)),
    Question("2", "d", "Why?", evidence=(Evidence("cd", (3, 5), "d"),)),
    Question("3", "d", "How?", answers=("no", "Yes, no")),
)
OWN = Benchmark("own", "Made here", (Document("d", TEXT),), QUESTIONS)


def experiment(*rows: Row, **more: Any) -> Experiment:
    return Experiment("trial", "A trial", (Source("own", "x"),), rows, **more)


def results(folder: Path, found: Experiment, benchmark: Benchmark = OWN) -> Results:
    return run(found, [benchmark], FakeModels(folder))


def last(folder: Path, *rows: Row, **more: Any) -> RowResult:
    return results(folder, experiment(*rows, **more)).rows[-1]


LG = Row("lg", Settings("lg", theta=6))


def test_a_row_of_retrieval(tmp_path: Path) -> None:
    told: list[str] = []
    models = FakeModels(tmp_path)
    made = run(experiment(LG, baseline="lg", rule="rouge"), [OWN], models, told.append)
    assert told == ["own: lg"]
    assert (made.name, made.title, made.benchmarks) == ("trial", "A trial", {"own": "Made here"})
    assert (made.baseline, made.rule) == ("lg", "rouge")
    assert made.made["embedder"] == {"name": "fake", "identity": "fake"}
    [row] = made.rows
    assert (row.label, row.benchmark) == ("lg", "own")
    assert row.settings["theta"] == 6
    assert row.sizes == {
        "count": 4, "mean": 6, "deviation": 0, "smallest": 6, "largest": 6, "over": 0,
    }  # fmt: skip
    # Windows are read at 0, 22 and 44; the last 22 characters fit in θ. A character is a token.
    assert row.cost["model_tokens_per_token"] == 3 * 20 / 88
    assert row.cost["words_per_second"] == pytest.approx(24 / row.cost["seconds"])
    assert row.cost["index_seconds"] > 0
    assert list(row.values) == ["1", "2"]
    # Two sentences a parent: "ef.  Ab" is within the first, and "cd" too.
    assert row.ceilings == {"lowered": 1, "folded": 1, "span": 1, "rouge": 1}
    assert row.levels == {"0": 1}
    assert row.groups == {"1": "d", "2": "d", "3": "d"}


def test_a_second_run_asks_nothing_and_finds_the_same(tmp_path: Path) -> None:
    found = experiment(LG, Row("c", like="lg", seeds=2))
    once = results(tmp_path, found)
    models = FakeModels(tmp_path)
    again = run(found, [OWN], models)
    assert (models.fake_scorer.batches, models.fake_embedder.read) == ([], 0)
    for before, after in zip(once.rows, again.rows, strict=True):
        assert (before.values, before.sizes) == (after.values, after.sizes)
        assert before.cost.get("index_seconds") == after.cost.get("index_seconds")


def test_a_control_is_the_mean_of_its_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = FakeModels(tmp_path, scores="random")
    lg = Row("lg", Settings("lg", theta=9))
    together = run(experiment(lg, Row("c", like="lg", seeds=3)), [OWN], models).rows[-1]
    singles = []
    for seed in range(3):
        monkeypatch.setattr(module, "cut_at_random", partial(_drawn, seed))
        singles.append(run(experiment(lg, Row("c", like="lg")), [OWN], models).rows[-1])
    for name in ("count", "mean", "deviation"):
        assert together.sizes[name] == pytest.approx(fmean(s.sizes[name] for s in singles))
    for question in ("1", "2"):
        for measure, value in together.values[question].items():
            alone = [single.values[question][measure] for single in singles]
            assert value == pytest.approx(fmean(alone))
    for rule, value in together.ceilings.items():
        assert value == pytest.approx(fmean(single.ceilings[rule] for single in singles))
    assert {single.ceilings["span"] for single in singles} == {0.5, 1}


def _drawn(seed: int, like: Cut, _: int, scorer: None) -> Cut:
    return cut_at_random(like, seed, scorer)


def test_controls_and_published_chunks_have_no_cost_of_cutting_and_no_limit(
    tmp_path: Path,
) -> None:
    people = ("Ab cd ef. " * 3, "Ab cd ef. " * 5)
    benchmark = Benchmark("own", "t", OWN.documents, QUESTIONS, chunkings={"people": people})
    rows = (LG, Row("c", like="lg"), Row("p", published="people"), Row("d", like="p"))
    _, control, people_row, like_people = results(tmp_path, experiment(*rows), benchmark).rows
    for row in (control, people_row, like_people):
        assert set(row.cost) == {"index_seconds"}
        assert row.settings == {}
    assert control.sizes["over"] == 0
    assert math.isnan(people_row.sizes["over"])
    assert (people_row.sizes["count"], people_row.sizes["mean"]) == (2, 12)
    assert (like_people.sizes["smallest"], like_people.sizes["largest"]) == (9, 15)


def test_what_is_not_published_for_a_benchmark_is_left_out_and_said(tmp_path: Path) -> None:
    told: list[str] = []
    rows = (Row("p", published="people"), Row("c", like="p"), LG)
    made = run(experiment(*rows), [OWN], FakeModels(tmp_path), told.append)
    assert [row.label for row in made.rows] == ["lg"]
    assert told == [
        "own: p is not published for it", "own: c is not published for it", "own: lg",
    ]  # fmt: skip


def test_levels_of_pieces(tmp_path: Path) -> None:
    vectors: dict[str, tuple[float, float]] = {
        "Who?": (1, 0), "Why?": (1, 0), "How?": (0, 1),
        "Ab cd ef.  Ab cd ef.": (0.6, 0.8), "Ab cd ef.": (0.8, 0.6),
    }  # fmt: skip
    rows = (
        Row("all", Settings("lgmgc", theta=6, children=(2,))),
        Row("parents", Settings("lgmgc", theta=6, children=(2,)), search=(0,)),
    )
    models = FakeModels(tmp_path, embedder=ChosenEmbedder(vectors))
    everything, parents = run(experiment(*rows), [OWN], models).rows
    # Two questions are nearest to the children, one to the parents; four parents each.
    assert everything.levels == {"0": pytest.approx(1 / 3), "1": pytest.approx(2 / 3)}
    assert parents.levels == {"0": 1}


def test_answers(tmp_path: Path) -> None:
    """The reader says "yes": right, not asked, and F1 2/3 of "Yes, no"."""
    models = FakeModels(tmp_path)
    rows = (LG, Row("closed", Settings("recursive"), context="closed"))
    made = run(experiment(*rows, measures=("answers",), reader_k=1), [OWN], models)
    for row in made.rows:
        assert row.values == {
            "1": {"F1 of answers": 1}, "3": {"F1 of answers": pytest.approx(2 / 3)},
        }  # fmt: skip
    assert len(models.fake_writer.prompts) == 4
    assert "Ab cd ef." in models.fake_writer.prompts[0][1]
    assert models.fake_writer.prompts[2][1] == "Question: Who?\nAnswer:"


def test_a_reader_without_chunks_retrieves_nothing_and_costs_nothing(tmp_path: Path) -> None:
    row = Row("whole", Settings("recursive"), context="whole")
    made = last(tmp_path, LG, row, measures=("retrieval", "answers"))
    assert (made.sizes, made.cost, made.ceilings, made.levels) == ({}, {}, {}, {})
    assert {name for each in made.values.values() for name in each} == {"F1 of answers"}


GOLD = Benchmark(
    "gold", "t", (*OWN.documents, Document("e", "Ab cd ef.")),
    boundaries={"d": ((0, 22), (22, 44), (44, 66), (66, 88))},
    units={"d": tuple(range(11, 89, 11))},
)  # fmt: skip


def test_segmentation_of_the_documents_that_have_gold(tmp_path: Path) -> None:
    rows = (Row("s", Settings("sentences", theta=300)),)
    found = experiment(*rows, measures=("segmentation",), theta_of_gold=1.0)
    made = results(tmp_path, found, GOLD)
    # 24 words in 4 segments, the other document's 3 not counted: θ = 6, and all is right.
    assert made.rows[0].settings["theta"] == 6
    assert made.rows[0].values == {
        "d": {"Pk": 0, "WindowDiff": 0, "F1": 1, "boundaries per gold one": 1}
    }


def test_a_run_without_embedder_names_none(tmp_path: Path) -> None:
    rows = (Row("s", Settings("sentences", theta=6)),)
    made = results(tmp_path, experiment(*rows, measures=("segmentation",)), GOLD)
    assert (made.made["models"], made.made["embedder"]) == ([], None)


def own(folder: Path) -> Source:
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "d.txt").write_text(TEXT)
    row = {"document": "d.txt", "question": "Who?", "evidence": "zz"}
    (folder / "own" / "questions.jsonl").write_text(json.dumps(row) + "\n")
    return Source("own", "own")


def test_all_is_loaded_before_anything_is_run(tmp_path: Path) -> None:
    source = own(tmp_path)
    rows = (LG,)
    [benchmark] = load_all(Experiment("n", "t", (source,), rows), tmp_path)
    assert (benchmark.name, len(benchmark.questions)) == ("own", 1)
    for sources, more, said in (
        ((source, Source("choi", "nowhere")), {}, f"{tmp_path / 'nowhere'}: no such file"),
        ((source, source), {}, "two benchmarks are called own; run them one by one"),
        ((source,), {"measures": ("segmentation",)}, "own has no gold boundaries to compare"),
        ((source,), {"theta_of_gold": 1.0}, "own has no gold segments to take θ from"),
    ):
        with pytest.raises(UsageError) as raised:
            load_all(Experiment("n", "t", sources, rows, **more), tmp_path)
        assert str(raised.value).startswith(said)


def test_what_a_benchmark_lacks_is_said_before_anything_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Benchmark("own", "t", OWN.documents, QUESTIONS, "collection", chunkings={"a": ()})
    monkeypatch.setattr("lgmgc.evaluation.run.load_benchmark", lambda *_, **__: loaded)
    with pytest.raises(UsageError, match=r"^own has no chunks 'b'; it has: a$"):
        load_all(experiment(Row("p", published="b")), tmp_path)
    with pytest.raises(UsageError, match=r"^'w': a question to all of own has no document$"):
        load_all(experiment(Row("w", Settings("recursive"), context="whole")), tmp_path)
