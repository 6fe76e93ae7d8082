import numpy as np
import pytest

from lgmgc import Chunker, Options, Settings, UsageError
from lgmgc.chunkers.calibrate import SAMPLE, calibrate
from lgmgc.lm.windows import TokenWindow
from tests.fake import SCORES, FakeScorer


def test_a_trend_along_the_window_is_taken_out() -> None:
    places = np.tile(np.arange(20), 50)
    noise = np.random.default_rng(0).normal(size=1_000)
    falling = -3 * np.log1p(places) + noise
    made = calibrate(falling[None], places, drift=True, unit=True)
    assert made.slopes[0] == pytest.approx(-3, abs=0.1)
    assert made.weights[0] == pytest.approx(1, abs=0.1)
    flat = made.combine(falling[None], places)
    assert abs(np.corrcoef(flat, np.log1p(places))[0, 1]) < 1e-9


def test_without_drift_and_unit_scores_stay_as_they_are() -> None:
    scores = np.array([[-3.0, np.nan, -1.0]])
    made = calibrate(scores, np.arange(3), drift=False, unit=False)
    np.testing.assert_array_equal(made.combine(scores, np.arange(3)), scores[0])


def test_signals_weigh_the_same_after_calibration() -> None:
    signals = np.array([[0.0, 2.0, 4.0], [100.0, np.nan, 300.0]])
    made = calibrate(signals, np.arange(3), drift=False, unit=True)
    assert made.weights == pytest.approx([1 / np.std([0, 2, 4]), 1 / 100])
    assert np.isnan(made.combine(signals, np.arange(3))[1])


def test_what_never_changes_has_no_weight_to_find() -> None:
    same = np.full((1, 4), 5.0)
    assert calibrate(same, np.zeros(4, np.int64), drift=True, unit=True).weights.tolist() == [1.0]
    assert calibrate(same[:, :1], np.zeros(1, np.int64), True, True).slopes.tolist() == [0.0]


def test_only_sums_and_drift_read_a_sample_beforehand() -> None:
    text = "".join(f"Sentence {k:05} is of six words. " for k in range(2_000))
    read = {}
    for name, options in {
        "plain": Options(),
        "one": Options(signal="topic"),
        "drift": Options(drift=True),
        "sum": Options(signal="eos+topic"),
    }.items():
        scorer = FakeScorer(SCORES["equal"])
        Chunker(Settings("lg", 60, options=options), scorer).chunk(text)
        read[name] = scorer.tokens
    assert read["plain"] < read["one"] <= read["plain"] * 1.2  # looking ahead costs a little
    sample = SAMPLE * 60 / 6 * 33  # windows of ten sentences
    assert read["drift"] - read["plain"] == pytest.approx(sample, rel=0.1)
    assert read["sum"] > read["one"]


def test_drift_lets_a_chat_models_windows_grow() -> None:
    # Scores fall by a nat a sentence and have noise: at face value the first nearly always wins.
    def falling(window: TokenWindow) -> list[float]:
        seed = int(window.ids.astype(np.int64).sum()) % 997
        noise = np.random.default_rng(seed).normal(0, 0.3, len(window.ends))
        return list(-6 * np.log1p(np.arange(len(window.ends))) + noise)

    text = "".join(f"Sentence {k:05} is of six words. " for k in range(400))
    parents = {
        drift: Chunker(Settings("lg", 60, options=Options(drift=drift)), FakeScorer(falling))
        .chunk(text)
        .parents
        for drift in (False, True)
    }
    assert np.mean([p.words for p in parents[False]]) < 7
    assert np.mean([p.words for p in parents[True]]) > 20


def test_least() -> None:
    text = "".join(f"Sentence {k:05} is of six words. " for k in range(50))
    falling = FakeScorer(lambda window: [-float(k) for k in range(len(window.ends))])
    # The earlier the better: the smallest that is allowed, until what is left fits.
    chunker = Chunker(Settings("lg", 60, options=Options(least=18)), falling)
    sizes = [parent.words for parent in chunker.chunk(text).parents]
    assert set(sizes[:-1]) == {18}
    assert sizes[-1] <= 60
    # Where nothing is large enough, beside a long sentence, the choice is as without.
    long = Chunker(Settings("lg", 9, options=Options(least=8)), falling)
    parents = long.chunk(
        "Ann ran off. Bob sat down. Cid ate all of his good food up now. Fay left."
    ).parents
    assert [parent.words for parent in parents] == [3, 3, 9, 2]


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("lg", {"signal": "eso"}, "signal 'eso' is none of eos, surprise, topic"),
        ("lg", {"signal": ""}, "is none of"),
        ("lg", {"signal": "eos+"}, "is none of"),
        ("lg", {"least": -1}, "least is -1"),
        ("global", {"strength": float("nan")}, "strength is nan"),
        ("lg", {"overlap": 3}, "lg does not read overlap; its options are: signal, drift, least"),
        ("mg", {"signal": "topic"}, "mg does not read signal; its options are: none"),
        ("fixed", {"overlap": 300}, "overlap is 300; it must be below θ, 300"),
        ("lumber", {"reader": "tea"}, "reader 'tea' is none of generate, logits"),
        ("lumber", {"group": 0}, "group is 0"),
        ("semantic", {"breakpoint": "x"}, "breakpoint 'x' is none of percentile"),
        ("semantic", {"threshold": 101.0}, "threshold is 101.0"),
        ("perplexity", {"threshold": float("inf")}, "threshold is inf"),
        ("random", {"like": "random"}, "random cannot be like 'random'"),
        ("random", {"like": "fixed"}, "random cannot be like 'fixed'"),
        ("random", {"like": "lg", "target": 5}, "random does not read target"),
        ("manual", {}, "give one"),
    ],
)
def test_options_that_cannot_be(method: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        Settings(method, options=Options(**options))  # type: ignore[arg-type]
    assert message in str(error.value)
