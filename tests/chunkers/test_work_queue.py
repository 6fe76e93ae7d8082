import random
from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.chunkers.work_queue import AHEAD, LATER, Holder, WorkQueue
from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError
from lgmgc.lm.scheduler import IN_FLIGHT


def documents(sizes: list[int]) -> list[Document]:
    return [Document(str(k), "x" * size) for k, size in enumerate(sizes)]


def tree(document: Document) -> tuple[Tree, Counter[str]]:
    return Tree(document, ()), Counter()


def fill(queue: WorkQueue, holders: list[Holder]) -> None:
    """Offer in turns, as to processes that have room for everything."""
    asking = list(holders)
    while asking or queue.may_read:
        for holder in list(asking):
            if queue.offer(holder) is None:
                asking.remove(holder)
        if not queue.may_read and all(queue.offer(each) is LATER for each in asking):
            break
        queue.read()


def test_few_documents_are_shared_out_evenly() -> None:
    holders = [Holder(), Holder()]
    fill(WorkQueue(documents([10] * 8), holders), holders)
    assert [len(holder.held) for holder in holders] == [4, 4]


def test_by_characters_not_by_number() -> None:
    holders = [Holder(), Holder()]
    fill(WorkQueue(documents([60, 10, 10, 10, 10, 10, 10]), holders), holders)
    assert sorted(holder.load for holder in holders) == [60, 60]


def test_one_that_has_all_it_may_is_told_to_go_on() -> None:
    first, second = Holder(), Holder()
    queue = WorkQueue(documents([10, 10]), [first, second])
    assert queue.offer(first) is LATER  # nothing was read
    queue.read()
    assert queue.offer(first) == (0, Document("0", "x" * 10))
    assert queue.offer(first) is LATER  # there may be more
    queue.read()
    queue.read()
    assert not queue.may_read
    assert queue.offer(first) is None
    assert queue.offer(second) == (1, Document("1", "x" * 10))


def test_results_come_in_order() -> None:
    holder = Holder()
    queue = WorkQueue(documents([1, 1, 1]), [holder])
    fill(queue, [holder])
    for number in (2, 1):
        queue.settle(holder, number, tree(holder.held[number]))
        assert list(queue.results()) == []
    queue.settle(holder, 0, DocumentError("0: no"))
    assert [document.id for document, _ in queue.results()] == ["0", "1", "2"]
    assert queue.done


def test_what_a_dead_one_held_is_given_again_alone_and_then_fails() -> None:
    first, second = Holder(), Holder()
    queue = WorkQueue(documents([1, 1]), [first])
    fill(queue, [first])
    assert len(first.held) == 2
    queue.lost(first, "was ended by signal 9")
    assert not first.held
    assert queue.offer(second) == (0, Document("0", "x"))
    assert queue.offer(second) is None
    queue.settle(second, 0, tree(second.held[0]))
    assert queue.offer(second) == (1, Document("1", "x"))
    queue.lost(second, "was ended by signal 9")
    (_, cut), (document, error) = queue.results()
    assert not isinstance(cut, DocumentError)
    assert document.id == "1"
    assert str(error) == (
        "1: the process that cut it was ended by signal 9, twice; leave it out, or see whether "
        "memory ran out"
    )
    assert queue.done


def test_what_is_read_and_not_delivered_is_bounded() -> None:
    taken = 0

    def source() -> Iterator[Document]:
        nonlocal taken
        while True:
            taken += 1
            yield Document(str(taken), "x")

    slow, quick = Holder(), Holder()
    queue = WorkQueue(source(), [slow, quick])
    queue.read()
    queue.offer(slow)
    for _ in range(10_000):
        queue.read()
        if isinstance(given := queue.offer(quick), tuple):
            queue.settle(quick, given[0], tree(given[1]))
        assert not list(queue.results())
    assert taken == 2 * IN_FLIGHT
    queue.settle(slow, 0, tree(slow.held[0]))
    assert len(list(queue.results())) >= 2 * IN_FLIGHT - 2 * AHEAD


@given(st.integers(0, 2**32), st.lists(st.integers(0, 50), max_size=40), st.integers(1, 4))
def test_every_document_has_one_result_whoever_dies(
    seed: int, sizes: list[int], count: int
) -> None:
    draw = random.Random(seed)
    holders = [Holder() for _ in range(count)]
    queue = WorkQueue(documents(sizes), holders)
    deaths: Counter[str] = Counter()
    delivered: list[str] = []
    for _ in range(100_000):
        if queue.done:
            break
        queue.read()
        k = draw.randrange(count)
        holder = holders[k]
        event = draw.choice(("ask", "ask", "ask", "cut", "cut", "die"))
        if event == "ask":
            queue.offer(holder)
        elif event == "cut" and holder.held:
            number = draw.choice(list(holder.held))
            queue.settle(holder, number, tree(holder.held[number]))
        elif event == "die" and holder.held and draw.random() < 0.2:
            deaths.update(each.id for each in holder.held.values())
            queue.lost(holder, "died")
            holders[k] = Holder()
        for document, result in queue.results():
            delivered.append(document.id)
            assert isinstance(result, DocumentError) == (deaths[document.id] == 2)
    assert queue.done
    assert delivered == [str(k) for k in range(len(sizes))]
