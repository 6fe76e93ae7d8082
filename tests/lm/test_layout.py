import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.lm.layout import packed, padded


def windows(*lengths: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Windows of the ids 10, 11 … ; 20, 21 … ."""
    return [10 * k + np.arange(length) for k, length in enumerate(lengths, start=1)]


def test_padded_by_hand() -> None:
    layout = padded(windows(2, 0, 3))
    assert layout.ids.tolist() == [[10, 11, 0], [0, 0, 0], [30, 31, 32]]
    assert layout.positions.tolist() == [[0, 1, 2]] * 3
    assert layout.starts.tolist() == [0, 3, 6]
    assert layout.lengths == (2, 0, 3)


def test_packed_by_hand() -> None:
    layout = packed(windows(2, 0, 3), grain=4)
    assert layout.ids.tolist() == [[10, 11, 30, 31, 32, 0, 0, 0]]
    assert layout.positions.tolist() == [[0, 1, 0, 1, 2, 0, 0, 0]]
    assert layout.starts.tolist() == [0, 2, 2]
    assert layout.lengths == (2, 0, 3)


@pytest.mark.parametrize(("total", "tile", "places"), [(4, 4, 4), (5, 4, 8), (5, 1, 5), (0, 4, 4)])
def test_packed_is_a_whole_number_of_tiles(total: int, tile: int, places: int) -> None:
    assert packed(windows(total), tile).ids.shape == (1, places)


def test_windows_without_tokens_have_a_place() -> None:
    assert padded(windows(0)).ids.tolist() == [[0]]
    assert packed(windows(0, 0), grain=1).ids.tolist() == [[0]]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(1, 8))
def test_every_token_is_found_where_the_layout_says(lengths: list[int], tile: int) -> None:
    given = windows(*lengths)
    for layout in (padded(given), packed(given, tile)):
        ids, positions = layout.ids.ravel(), layout.positions.ravel()
        assert layout.ids.shape == layout.positions.shape
        for window, start, length in zip(given, layout.starts, layout.lengths, strict=True):
            assert ids[start : start + length].tolist() == window.tolist()
            assert positions[start : start + length].tolist() == list(range(len(window)))
