from __future__ import annotations

from lgmgc.report.hits import hits_page, marked
from lgmgc.retrieval.hits import Hit, Passage

TEXT = "One <b>two</b>. Three four.\n Five."


def hit(start: int, end: int) -> Hit:
    parent = Passage("p", 0, 100, 100 + len(TEXT), TEXT)
    piece = Passage("c", 1, 100 + start, 100 + end, TEXT[start:end])
    return Hit(1, -0.51239, "<i>a</i>.txt", parent, piece, (100, 100 + len(TEXT)), TEXT)


def test_the_piece_without_white_space_around_it() -> None:
    one = marked(hit(15, 29))
    assert (one.before, one.piece, one.after) == ("One <b>two</b>. ", "Three four.", "\n Five.")
    for start, end in ((0, 0), (0, len(TEXT)), (27, 29), (-50, 3), (20, 99), (-9, -3), (90, 99)):
        one = marked(hit(start, end))
        assert one.before + one.piece + one.after == TEXT
        assert one.piece == one.piece.strip()


def test_the_page() -> None:
    source = hits_page([("who <u>?", [hit(15, 29)]), ("none", [])], index="x.db", mode="lexical")
    assert "who &lt;u&gt;?" in source
    assert "<bdi>&lt;i&gt;a&lt;/i&gt;.txt</bdi>" in source
    assert "One &lt;b&gt;two&lt;/b&gt;. <mark>Three four.</mark>\n Five.</div>" in source
    assert "score <b>−0.5124</b>" in source
    assert "characters 100 to 134" in source
    assert "found by a piece of level 1, 115 to 129" in source
    assert source.count("Nothing was found.") == 1
