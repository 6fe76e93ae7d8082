import pytest
from hypothesis import given

from lgmgc.chunkers.lines import line_ends, paragraph_ends
from tests.chunkers.cutting import anything


@pytest.mark.parametrize(
    ("text", "lines", "paragraphs"),
    [
        ("", [], []),
        ("a", [1], [1]),
        ("a\n", [2], [2]),
        ("\n \n", [1, 3], [3]),  # blank throughout: one paragraph
        ("a\nb", [2, 3], [3]),
        ("a\n\nb", [2, 3, 4], [3, 4]),
        ("a\r\n\r\nb\r\n", [3, 5, 8], [5, 8]),
        ("a\n \t\n\n\nb", [2, 5, 6, 7, 8], [7, 8]),
        ("\n\na\n\n", [1, 2, 4, 5], [5]),
        ("a\rb\u2028c", [2, 4, 5], [5]),
    ],
)
def test_by_hand(text: str, lines: list[int], paragraphs: list[int]) -> None:
    assert line_ends(text).tolist() == lines
    assert paragraph_ends(text).tolist() == paragraphs


@given(anything)
def test_paragraphs_end_where_lines_end_and_hold_more_than_white_space(text: str) -> None:
    lines, paragraphs = line_ends(text).tolist(), paragraph_ends(text).tolist()
    assert set(paragraphs) <= set(lines)
    assert lines[-1:] == paragraphs[-1:] == ([len(text)] if text else [])
    starts = [0, *paragraphs[:-1]]
    if text.strip():
        assert all(text[a:b].strip() for a, b in zip(starts, paragraphs, strict=True))
