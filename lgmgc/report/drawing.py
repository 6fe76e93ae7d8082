"""Numbers to SVG paths. A plot is 1000 wide, whatever it shows, and is stretched by the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

WIDTH = 1000
HEIGHT = 100
MARGIN = 6
"""Kept free above and below a curve, for dots that lie on its extremes."""
DOTS = 400
"""Candidates up to which each has a dot of its own."""
BARS = 24
"""Bars of a histogram up to the limit."""


def curve(scores: dict[int, float], length: int) -> str:
    """A line through scores; of more than two in one unit of the width, the least and greatest.

    Args:
        scores: offset to score, rising.
        length: of the document.

    >>> curve({0: -3.0, 5: -1.0, 10: -2.0}, 10)
    'M0 94.0L500 6.0L1000 50.0'
    """
    points: list[tuple[float, float]] = []
    places = [(_x(at, length), y) for at, y in zip(scores, _heights(scores), strict=True)]
    for _, group in groupby(places, key=lambda place: round(place[0])):
        some = list(group)
        low, high = (pick(range(len(some)), key=lambda k: some[k][1]) for pick in (min, max))
        points += some if len(some) < 3 else [some[k] for k in sorted({low, high})]
    line = "L".join(f"{x:g} {y:.1f}" for x, y in points)
    return f"M{line}" if line else ""


def dots(scores: dict[int, float], length: int, wanted: Iterable[int]) -> str:
    """Dots on the curve at the wanted offsets: lines without length, which the page makes round.

    >>> dots({0: -3.0, 5: -1.0, 10: -2.0}, 10, [5, 7])
    'M500 6.0h0'
    """
    wanted = set(wanted)
    heights = zip(scores, _heights(scores), strict=True)
    return "".join(f"M{_x(at, length):g} {y:.1f}h0" for at, y in heights if at in wanted)


def lane(bounds: Sequence[int], length: int) -> str:
    """Every other parent as a rectangle of height 10.

    Args:
        bounds: where parents begin, and the text's end.
        length: of the document.

    >>> lane([0, 2, 4, 9, 10], 10)
    'M0 0H200V10H0zM400 0H900V10H400z'
    """
    shown = list(pairwise(_x(at, length) for at in bounds))[::2]
    return "".join(f"M{a:g} 0H{b:g}V10H{a:g}z" for a, b in shown)


def histogram(sizes: Sequence[int], theta: int) -> tuple[str, float]:
    """Bars of how many parents have which size, and where θ stands.

    >>> histogram([1, 1, 1, 2], 2)
    ('M0 100V0H485V100zM500 100V66.67H985V100z', 1000.0)
    >>> histogram([24, 36], 24)[1]
    666.67
    """
    bars = min(BARS, theta)  # up to θ; as wide ones behind it, where chunks of a file are larger
    counts = [0] * max([bars, *(-(-size * bars // theta) for size in sizes)])
    for size in sizes:
        counts[max(0, size * bars - 1) // theta] += 1
    wide, tall = WIDTH / len(counts), max([1, *counts])
    path = "".join(
        f"M{k * wide:.4g} {HEIGHT}V{HEIGHT * (1 - count / tall):.4g}H{(k + 0.97) * wide:.4g}"
        f"V{HEIGHT}z"
        for k, count in enumerate(counts)
        if count
    )
    return path, round(bars * wide, 2)


def _x(at: int, length: int) -> float:
    return round(at / max(1, length) * WIDTH, 2)


def _heights(scores: dict[int, float]) -> list[float]:
    if not scores:
        return []
    low, high = min(scores.values()), max(scores.values())
    scale = (HEIGHT - 2 * MARGIN) / ((high - low) or 1)
    return [HEIGHT - MARGIN - (score - low) * scale for score in scores.values()]
