import numpy as np
import pytest

from lgmgc import Chunker, Options, Settings
from lgmgc.chunkers.merge import merged
from lgmgc.chunkers.perplexity import minima
from lgmgc.text.sizes import measure_words
from lgmgc.text.table import Limit, tabulate
from tests.fake import FakeScorer


@pytest.mark.parametrize(
    ("losses", "depth", "places"),
    [
        ([3, 2, 1], 0.0, []),  # the ends are no minima
        ([3, 1, 2], 0.0, [1]),
        ([3, 1, 2], 2.0, [1]),  # one side is deep enough
        ([3, 1, 2], 2.5, []),
        ([3, 1, 1, 3], 0.0, [1]),  # level to the right
        ([3, 1, 1, 3], 2.5, []),
        ([1, 1, 3], 0.0, []),
        ([3, 1, 2, 0, 2, 1, 2], 0.0, [1, 3, 5]),
        ([3, np.nan, 2, 1, 4], 0.0, [3]),
        ([], 0.0, []),
        ([1], 0.0, []),
    ],
)
def test_minima(losses: list[float], depth: float, places: list[int]) -> None:
    assert minima(np.array(losses, float), depth) == places


def test_merged_by_hand() -> None:
    sentences = ["a b. ", "c. ", "d e f. ", "g. ", "h i j k l m. ", "n."]
    bounds = np.cumsum([0, *map(len, sentences)]).tolist()
    table = tabulate("".join(sentences), bounds, [Limit(measure_words, 6)])
    assert merged(table, {1, 3, 6}) == [3, 4, 5, 6]  # the last segment is 1 + 6 + 1 words
    assert merged(table, {1, 2, 3, 4, 5, 6}) == [3, 4, 5, 6]
    assert merged(table, {2, 4, 6}) == [2, 4, 5, 6]


def test_parents_end_where_the_loss_is_lowest() -> None:
    # One token a character; a sentence's loss is its number of characters.
    text = "One two three. Go. One two three four. " * 3
    scorer = FakeScorer(lambda window: np.diff(window.ends, prepend=0).tolist())
    parents = Chunker(Settings("perplexity", 8), scorer).chunk(text).parents
    # "Go." ends the first; then 4 + 3 + 1 words.
    assert [parent.words for parent in parents] == [4, 8, 8, 4]
    deep = Chunker(Settings("perplexity", 8, options=Options(threshold=99.0)), scorer)
    assert [parent.words for parent in deep.chunk(text).parents] == [8, 8, 8]  # packed
