import math

from lgmgc.evaluation.measures.sizes import sizes_of


def test_by_hand() -> None:
    # Deviations of 1, 5, 6 from 4: 9 + 1 + 4 = 14, over three.
    assert sizes_of([1, 5, 6], 5) == {
        "count": 3,
        "mean": 4.0,
        "deviation": (14 / 3) ** 0.5,
        "smallest": 1,
        "largest": 6,
        "over": 1 / 3,
    }
    assert sizes_of([5, 5], 5)["over"] == 0.0


def test_no_limit_and_no_chunks() -> None:
    assert math.isnan(sizes_of([7])["over"])
    none = sizes_of([], 5)
    assert none.pop("count") == 0
    assert all(map(math.isnan, none.values()))
