from lgmgc.retrieval.ranking import Match, fuse


def test_by_hand() -> None:
    # 1: 1/61 + 1/63. 2: 1/62 + 1/61. 3: 1/63. 4: 1/62.
    dense = [Match(1, 10, 0.9), Match(2, 20, 0.8), Match(3, 30, 0.7)]
    lexical = [Match(2, 21, 9.0), Match(4, 40, 8.0), Match(1, 11, 7.0)]
    assert fuse([dense, lexical], {k: k for k in (1, 2, 3, 4)}) == [
        Match(2, 21, 1 / 62 + 1 / 61),
        Match(1, 10, 1 / 61 + 1 / 63),
        Match(4, 40, 1 / 62),
        Match(3, 30, 1 / 63),
    ]


def test_ties_go_by_place_and_the_piece_by_the_first_ranking() -> None:
    # Both 1/61 + 1/62.
    dense = [Match(1, 10, 0.9), Match(2, 20, 0.8)]
    lexical = [Match(2, 21, 9.0), Match(1, 11, 8.0)]
    for places, order in (({1: "a", 2: "b"}, [1, 2]), ({1: "b", 2: "a"}, [2, 1])):
        assert [match.parent for match in fuse([dense, lexical], places)] == order
    assert fuse([dense[:1], [Match(1, 11, 8.0)]], {1: 1}) == [Match(1, 10, 2 / 61)]


def test_no_ranking() -> None:
    assert fuse([[], []], {}) == []
