import doctest
import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lgmgc.retrieval
from lgmgc.retrieval import embedding, ranking, terms
from lgmgc.retrieval.terms import expression, spaced


def test_the_examples_in_docstrings() -> None:
    for module in (lgmgc.retrieval, embedding, ranking, terms):
        assert doctest.testmod(module).failed == 0


def matching(query: str, *texts: str) -> list[int]:
    """The texts that a query finds, by number."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='')")
    connection.executemany(
        "INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(map(spaced, texts))
    )
    found = expression(query)
    if not found:
        return []
    return [k for (k,) in connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (found,))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("天气", [0]),
        ("气天", []),  # the two stand in another order
        ("今", [0, 1]),  # one character by itself
        ("明天天", [1]),  # 明天, and 天天 nowhere
        ("brand手机", [2]),
        ("IPHONE", [2]),
        ("カメラ", [3]),
        ("𠮷野", [4]),
        ("cafe", [5]),
        ("CAFE\u0301", [5]),
        ("का", [6]),
        ("OR", []),
        ("don't", [7]),
        ("", []),
        ("?!", []),
    ],
)
def test_what_is_found(query: str, expected: list[int]) -> None:
    texts = [
        "今天气很好",
        "明天，今后",
        "我的iPhone手机",
        "新しいカメラだ",
        "𠮷野家",
        "Le café",
        "का",
        "I don't",
    ]
    assert matching(query, *texts) == expected


@given(st.text())
@example('"')
@example('a" OR "b')
@example("NEAR(a b, 3) AND NOT c* ^d {e f}: g - h")
@example("(((")
@example("a\0b")
@example("\u0301")
@example("👨‍👩‍👧 🇨🇦")
@example("\ud800")
@example("x" * 100_000)
def test_no_text_is_an_error(query: str) -> None:
    matching(query, "one text")


def test_thousands_of_words_are_one_query() -> None:
    assert matching(" ".join(f"w{k}" for k in range(20_000)), "w19999", "w20000") == [0]


@given(st.text(alphabet="今天气ab é\0_\u0301"))
def test_what_is_given_to_fts5_can_be_taken_back(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='')")
    connection.execute("INSERT INTO t (rowid, text) VALUES (1, ?)", (spaced(text),))
    connection.execute("INSERT INTO t (t, rowid, text) VALUES ('delete', 1, ?)", (spaced(text),))
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab('t', 'instance')")
    assert connection.execute("SELECT * FROM seen").fetchall() == []
