from __future__ import annotations

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import LoadedModels
from lgmgc.report.cutting import at_random
from lgmgc.report.quiz import Choice, rounds
from tests.report.pages import book, cut, segmented


def test_every_way_is_another_division_of_the_same_passage() -> None:
    tree, scores = cut(book(3000), theta=60)
    assert scores is not None
    shuffled = at_random(tree, Settings("lgmgc", 60), LoadedModels())
    ways = [segmented(tree), segmented(cut(book(3000), "recursive")[0], "recursive"), shuffled]
    found = rounds(ways, scores.at, 60)
    assert len(found) == 4
    for one in found:
        passage = tree.document.text[one.start : one.end]
        assert len(passage.split()) > 60
        assert {choice.name for choice in one.choices} == {"lgmgc", "recursive", "random"}
        for choice in one.choices:
            assert "".join("".join(choice.texts).split()) == "".join(passage.split())
            assert len(choice.scores) == len(choice.texts) - 1 > 0
        assert len({tuple(choice.texts) for choice in one.choices}) == 3
    assert [round_.start for round_ in found] == sorted({round_.start for round_ in found})
    assert rounds(ways, scores.at, 60) == found
    assert len({tuple(choice.name for choice in one.choices) for one in found}) > 1


def test_random_has_the_sizes_of_the_first() -> None:
    tree, _ = cut(book(3000), theta=60)
    sizes = at_random(tree, Settings("lgmgc", 60), LoadedModels()).sizes
    # Sentences are whole, so each size is off by at most one of 15 or 16 words.
    given = sorted(parent.words for parent in tree.parents)
    assert abs(len(sizes) - len(given)) <= 1
    assert sum(sizes) == sum(given)
    assert max(sizes) <= 60


def test_nothing_to_choose_between() -> None:
    tree, scores = cut("One. Two.", theta=60)
    assert rounds([segmented(tree)] * 3, scores.at if scores else {}, 60) == []
    same = segmented(cut(book(900))[0])
    assert rounds([same, same, same], {}, 60) == []
    assert Choice("a", "", [], [None, -1.0, -2.0]).mean == -1.5
    assert Choice("a", "", [], [None]).mean is None
