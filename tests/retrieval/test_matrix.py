import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.retrieval.embedding import VectorType, pack, unit, unpack
from lgmgc.retrieval.matrix import Matrix


def matrix(rows: list[list[float]], parents: list[int], levels: list[int]) -> Matrix:
    """Pieces 10, 11, …; `parents` numbers each piece's parent from 0."""
    array = np.array(rows, np.float32)
    starts = np.flatnonzero(np.diff(parents, prepend=-1))
    ids = np.arange(10, 10 + len(rows))
    return Matrix(array, np.zeros(0, np.float32), ids, np.array(levels, np.int8), starts)


def test_by_hand() -> None:
    # Cosines with (1, 0): parent 10: 0.6, its child 0.8. Parent 12: 0.7, its children 0 and −1.
    some = matrix(
        [[0.6, 0.8], [0.8, 0.6], [0.7, 0.0], [0, 1], [-1, 0]], [0, 0, 1, 1, 1], [0, 1, 0, 1, 1]
    )
    query = np.array([1, 0], np.float32)
    found = some.best(query, 5)
    assert [(parent, piece) for parent, piece, _ in found] == [(10, 11), (12, 12)]
    assert [score for *_, score in found] == pytest.approx([0.8, 0.7])
    # With 0.25 for level 0: 0.85 and 0.8 in parent 10, 0.95 in parent 12.
    found = some.best(query, 5, (0.25,))
    assert [(parent, piece) for parent, piece, _ in found] == [(12, 12), (10, 10)]
    assert [score for *_, score in found] == pytest.approx([0.95, 0.85])
    # Bonus for levels that nothing has, and a loss for level 0: −0.4 and 0.8; −0.3 and 0.
    found = some.best(query, 5, (-1, 0, 9, 9, 9))
    assert [(parent, piece) for parent, piece, _ in found] == [(10, 11), (12, 13)]


def test_ties_go_to_the_first() -> None:
    some = matrix([[0, 1], [1, 0], [1, 0], [1, 0], [1, 0]], [0, 0, 0, 1, 2], [0, 1, 1, 0, 0])
    found = some.best(np.array([1, 0], np.float32), 2)
    assert found == [(10, 11, 1.0), (13, 13, 1.0)]


def test_nothing_there() -> None:
    none = Matrix(
        np.zeros((0, 3), np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.int64),
        np.zeros(0, np.int8),
        np.zeros(0, np.int64),
    )
    assert none.best(np.array([1, 0, 0], np.float32), 5) == []


@st.composite
def problems(draw: st.DrawFn) -> tuple[Matrix, np.ndarray, int, list[float]]:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=40))
    count, dimensions = sum(sizes), draw(st.integers(1, 70))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    if draw(st.booleans()):  # few different rows, so that most scores tie
        kinds = random.normal(size=(3, dimensions))
        raw = kinds[random.integers(3, size=count)]
    else:
        raw = random.normal(size=(count, dimensions))
    rows = unit(raw, count, dimensions, "")
    query = unit(random.normal(size=(1, dimensions)), 1, dimensions, "")[0]
    kind: VectorType = draw(st.sampled_from(["float32", "int8"]))
    stored, scales = unpack(pack(rows, kind), kind, dimensions)
    starts = np.cumsum([0, *sizes[:-1]])
    levels = random.integers(3, size=count).astype(np.int8)
    levels[starts] = 0
    bonus = draw(st.sampled_from([[], [0.1], [0.0, -0.05, 0.3]]))
    ids = random.permutation(10**6)[:count]
    return Matrix(stored, scales, ids, levels, starts), query, draw(st.integers(1, 45)), bonus


@given(problems())
def test_equals_brute_force(problem: tuple[Matrix, np.ndarray, int, list[float]]) -> None:
    some, query, k, bonus = problem
    scale = some.scales if len(some.scales) else np.ones(len(some.rows))
    near = [
        float((row.astype(float) * query.astype(float)).sum() * by)
        + (bonus[level] if level < len(bonus) else 0.0)
        for row, by, level in zip(some.rows, scale, some.levels, strict=True)
    ]
    stops = [*some.starts[1:], len(near)]
    expected = []
    for start, stop in zip(some.starts, stops, strict=True):
        piece = max(range(start, stop), key=lambda row: (near[row], -row))
        expected.append((int(some.pieces[start]), int(some.pieces[piece]), near[piece]))
    expected.sort(key=lambda match: -match[2])  # stable: ties stay in order
    assert some.best(query, k, bonus) == expected[:k]


def test_a_row_scores_the_same_wherever_it_lies() -> None:
    # A matrix product does not keep this: its last bits depend on the place of a row.
    random = np.random.default_rng(7)
    row, query = unit(random.normal(size=(2, 384)), 2, 384, "")
    others = unit(random.normal(size=(5000, 384)), 5000, 384, "") * np.float32(0.1)
    for place in range(0, 5000, 613):
        rows = np.insert(others, place, row, axis=0)
        one = Matrix(
            rows,
            np.zeros(0, np.float32),
            np.arange(5001),
            np.zeros(5001, np.int8),
            np.arange(5001),
        )
        [match] = one.best(np.copysign(query, row), 1)
        assert match.piece == place
        assert match.score == float((row.astype(float) * np.copysign(query, row)).sum())
