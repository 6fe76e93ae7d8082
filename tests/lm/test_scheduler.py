from collections.abc import Generator, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.errors import ModelError
from lgmgc.lm.requests import Window
from lgmgc.lm.scheduler import IN_FLIGHT, Job, Models, Scheduler, batch_sizes
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import OutOfMemoryError, ScoreArray, TokenWindow

Run = tuple[int, int]
Answer = list[list[float]]


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [list(map(ord, text)) for text in texts]


class Recorder:
    """A scorer whose score after a sentence is the tokens up to there; it notes its batches."""

    def __init__(self, memory: int = 10**9) -> None:
        self.encode = characters
        self.context = 10**6
        self.memory = memory
        self.batches: list[list[int]] = []
        self.refused: list[list[int]] = []

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        lengths = [len(window.ids) for window in windows]
        if len(lengths) * max(lengths) > self.memory:
            self.refused.append(lengths)
            raise OutOfMemoryError("too much")
        self.batches.append(lengths)
        return [window.ends.astype(float)[None] for window in windows]


def ask(
    rounds: Sequence[Sequence[Run]],
) -> Generator[Sequence[Window], Sequence[ScoreArray], Answer]:
    """A method that asks for these runs, and returns all that it was sent."""
    answer: Answer = []
    for runs in rounds:
        answer += [scores[0].tolist() for scores in (yield [Window(*run) for run in runs])]
    return answer


def job(sentences: int, rounds: Sequence[Sequence[Run]], size: int = 1) -> Job[Answer]:
    """A document of equal sentences of ``size`` characters without white space."""
    tokens = DocumentTokens(["x" * size] * sentences, characters)
    return Job(ask(rounds), tokens, np.ones(sentences, bool))


def places(lengths: Sequence[int]) -> int:
    return len(lengths) * max(lengths)


@pytest.mark.parametrize(
    ("lengths", "budget", "sizes"),
    [
        ([], 10, []),
        ([5], 10, [1]),
        ([50], 10, [1]),
        ([5, 5], 10, [2]),
        ([5, 5, 5], 10, [2, 1]),
        ([5, 5, 5, 5, 5], 15, [3, 2]),
        ([4] * 7, 24, [4, 3]),  # six would fit, but leave one alone
        ([50, 50, 2, 2, 2], 10, [1, 1, 3]),
        ([0, 0, 0], 2, [2, 1]),
        ([10, 9, 1, 1, 1, 1], 20, [2, 4]),
        ([9, 9], 1, [1, 1]),
    ],
)
def test_batch_sizes_by_hand(lengths: list[int], budget: int, sizes: list[int]) -> None:
    assert list(batch_sizes(lengths, budget)) == sizes


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100))
def test_batches_keep_the_budget(lengths: list[int], budget: int) -> None:
    lengths.sort(reverse=True)
    sizes = list(batch_sizes(lengths, budget))
    assert sum(sizes) == len(lengths)
    start = 0
    for size in sizes:
        assert size >= 1
        assert size == 1 or size * max(1, lengths[start]) <= budget
        start += size


def test_every_window_gets_its_own_scores() -> None:
    # Windows of 1 to 5 sentences of 3 characters, in several rounds of several documents.
    rounds = [[[(0, 1), (1, 5), (2, 4)], [(4, 5)]], [[(0, 5)]], [], [[(3, 4)], [], [(0, 2)]][:1]]
    jobs = [job(5, each, size=3) for each in rounds]
    scorer = Recorder()
    results = list(Scheduler(Models(scorer), 30).run(iter(jobs)))
    assert results == jobs
    assert [result.result for result in results] == [
        [[3.0], [3.0, 6.0, 9.0, 12.0], [3.0, 6.0], [3.0]],
        [[3.0, 6.0, 9.0, 12.0, 15.0]],
        [],
        [[3.0]],
    ]
    assert all(places(batch) <= 30 for batch in scorer.batches)
    # First all that waits, longest first, two at a time by length; then the second round.
    assert scorer.batches == [[15, 12], [6, 3, 3], [3]]


@given(
    st.lists(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), max_size=4), max_size=8),
    st.integers(1, 60),
)
def test_order_budget_and_scores_for_any_documents(
    documents: list[list[list[int]]], budget: int
) -> None:
    jobs = [job(9, [[(0, n) for n in lengths] for lengths in rounds]) for rounds in documents]
    scorer = Recorder()
    results = list(Scheduler(Models(scorer), budget).run(iter(jobs)))
    assert results == jobs
    for rounds, result in zip(documents, results, strict=True):
        expected = [[float(k) for k in range(1, n + 1)] for lengths in rounds for n in lengths]
        assert result.result == expected
    assert all(len(batch) == 1 or places(batch) <= budget for batch in scorer.batches)
    assert sum(map(len, scorer.batches)) == sum(len(n) for rounds in documents for n in rounds)


def test_documents_share_batches() -> None:
    scorer = Recorder()
    list(Scheduler(Models(scorer), 100).run(job(10, [[(0, 10)]]) for _ in range(40)))
    assert scorer.batches == [[10] * 10] * 4


def test_none_for_now_lets_those_that_are_open_go_on() -> None:
    scorer = Recorder()
    first, second, third = (job(10, [[(0, 10)]]) for _ in range(3))
    run = Scheduler(Models(scorer), 1_000).run(iter([None, first, second, None, None, third]))
    assert [next(run), next(run)] == [first, second]
    assert scorer.batches == [[10, 10]]  # without waiting for the third
    assert list(run) == [third]
    assert scorer.batches == [[10, 10], [10]]


def test_methods_that_ask_for_nothing_need_no_scorer() -> None:
    jobs: list[Job[Answer]] = [Job(ask([]), None, np.ones(3, bool)) for _ in range(3)]
    assert [result.result for result in Scheduler(Models(), 10).run(iter(jobs))] == [[], [], []]


def test_documents_in_flight_are_bounded() -> None:
    # The first takes long; those behind it are ready at once but must wait for their turn.
    taken = handed = 0
    most = 0

    def source() -> Iterator[Job[Answer]]:
        nonlocal taken, most
        for number in range(1_000):
            taken += 1
            most = max(most, taken - handed)
            yield job(3, [[(0, 3)]] * (50 if number == 0 else 0))

    for _ in Scheduler(Models(Recorder()), 10_000).run(source()):
        handed += 1
    assert handed == 1_000
    assert most <= IN_FLIGHT


def test_documents_are_opened_only_until_batches_are_full() -> None:
    opened: list[int] = []

    def source() -> Iterator[Job[Answer]]:
        for number in range(100):
            opened.append(number)
            yield job(10, [[(0, 10)]])

    run = Scheduler(Models(Recorder()), 20).run(source())
    next(run)
    # Four batches of 20 are eight windows of 10; when they were read, one more was opened, and the
    # first, which was done, handed on before any other.
    assert len(opened) == 9


def test_what_needs_no_scores_is_handed_on_before_another_is_opened() -> None:
    opened: list[int] = []

    def source() -> Iterator[Job[Answer]]:
        for number in range(100):
            opened.append(number)
            yield job(10, [])

    run = Scheduler(Models(), 20).run(source())
    next(run)
    assert len(opened) == 1


def test_progress_counts_every_sentence_once() -> None:
    news: list[tuple[int, int]] = []
    jobs = [job(6, [[(0, 3)], [(1, 4), (0, 2)]]), job(2, []), job(4, [[(0, 4)]])]
    number = {id(each): k for k, each in enumerate(jobs)}
    scheduler = Scheduler(Models(Recorder()), 5)
    list(scheduler.run(iter(jobs), lambda each, read: news.append((number[id(each)], read))))
    told: dict[int, list[int]] = {k: [read for n, read in news if n == k] for k in range(3)}
    # A result has read whatever no window held.
    assert told == {0: [3, 1, 2], 1: [2], 2: [4, 0]}


def refused_of(memory: int, windows: int, budget: int) -> tuple[Recorder, Scheduler, list[Answer]]:
    scorer = Recorder(memory)
    scheduler = Scheduler(Models(scorer), budget)
    jobs = [job(10, [[(0, 10)], [(0, 10)]]) for _ in range(windows)]
    results = [result.result or [] for result in scheduler.run(iter(jobs))]
    return scorer, scheduler, results


def test_out_of_memory_halves_the_budget_and_goes_on() -> None:
    scorer, scheduler, results = refused_of(memory=25, windows=8, budget=80)
    assert results == [[[float(k) for k in range(1, 11)]] * 2] * 8
    assert scheduler.batch_tokens < 80
    assert all(places(batch) <= 25 for batch in scorer.batches)
    # 80 places fail; of its halves 40 fails too, and each half again holds 20: three failures
    # (the budget becomes half of what the failed batch cost), none in the second round.
    assert [places(batch) for batch in scorer.refused] == [80, 40, 40]
    assert scheduler.batch_tokens == 20
    assert sum(map(len, scorer.batches)) == 16


def test_what_fits_leaves_the_budget_alone() -> None:
    _, scheduler, _ = refused_of(memory=80, windows=8, budget=80)
    assert scheduler.batch_tokens == 80


def test_a_single_window_that_does_not_fit_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ModelError) as error:
        refused_of(memory=9, windows=3, budget=80)
    assert "a single window of 10 tokens does not fit in memory" in str(error.value)
    assert "--theta" in str(error.value)


def test_other_errors_pass_through() -> None:
    class Broken(Recorder):
        def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
            raise ZeroDivisionError

    run = Scheduler(Models(Broken()), 5).run([job(1, [[(0, 1)]])])
    with pytest.raises(ZeroDivisionError):
        list(run)
