"""`lgmgc search` by words, which needs no model; tests/real has the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lgmgc.cli.show import harmless, json_line, reading
from lgmgc.retrieval.hits import Hit, Passage
from tests.cli.program import run, start

EVIL = (
    "A [bold]volcano[/bold] erupts.\x1b[2J \u202eHidden\u202c \x9bm. Ash\tfalls.\r\nThe end of it."
)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(
        "The harbour clock was mended by Ada. She took two days over it. Rain fell meanwhile.\n\n"
        "Nobody paid her."
    )
    (docs / "b.txt").write_text("Glaciers carve valleys as they move. Ice is heavy.")
    (docs / "evil[red]\n.txt").write_bytes(EVIL.encode())
    done = run("index", docs, "--db", folder / "x.db", "--lexical-only", "--method", "mg",
               "--theta", "28")  # fmt: skip
    assert done.status == 0, done.err
    return folder / "x.db"


def test_for_people(db: Path) -> None:
    done = run("search", "--db", db, "who mended the clock?", "-k", "1")
    assert (done.status, done.err) == (0, "")
    lines = done.out.decode().splitlines()
    assert lines[0].startswith(f"1. {db.parent}/docs/a.txt 0–102  score ")
    assert lines[0].endswith(", 19 words, found by level 1 (0–37)")
    assert lines[1:] == [
        "   «The harbour clock was mended by Ada.» She took two days over it. Rain fell meanwhile.",
        "",
        "   Nobody paid her.",
        "",
    ]


def test_a_document_steers_nothing(db: Path) -> None:
    done = run("search", "--db", db, "volcano", "-k", "1", "--level-bonus", "0")
    text = done.out.decode()
    assert "evil[red]\\n.txt" in text
    assert "[bold]volcano[/bold]" in text
    assert "\\x1b[2J \\u202eHidden\\u202c \\x9bm.» Ash\tfalls." in text
    assert not set(text) & {"\x1b", "\x9b", "\u202e", "\r"}


def test_json(db: Path) -> None:
    done = run("search", "--db", db, "clock glaciers volcano", "-k", "2", "--json")
    assert done.out.count(b"\n") == 1
    hits = json.loads(done.out)
    assert [hit["rank"] for hit in hits] == [1, 2]
    first = hits[0]
    assert list(first) == [
        "rank", "score", "document", "start", "end", "text", "parent", "piece",
    ]  # fmt: skip
    assert first["text"] == first["parent"]["text"]
    assert first["piece"]["text"] in first["text"]
    assert first["parent"]["level"] == 0
    assert run("search", "--db", db, "qqq", "--json").out == b"[]\n"


def test_json_steers_nothing(db: Path) -> None:
    out = run("search", "--db", db, "volcano", "--json").out
    assert not set(out.decode()) & {"\x1b", "\x9b", "\u202e", "\r"}
    assert json.loads(out)[0]["text"] == EVIL


def test_nothing_found_is_said(db: Path) -> None:
    done = run("search", "--db", db, "qqq")
    assert (done.status, done.out, done.err) == (0, b"", "lgmgc: nothing was found\n")


def test_many_queries(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.txt"
    file.write_bytes("\ufeffclock mended\r\n\r\n  ice\nqqq".encode())
    done = run("search", "--db", db, "--queries", file, "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["query"] for row in rows] == ["clock mended", "ice", "qqq"]
    assert [len(row["hits"]) for row in rows] == [1, 1, 0]
    [line] = done.err.splitlines()
    assert line.startswith("3 queries, 2 parents found; by pieces of level ")
    done = run("search", "--db", db, "--queries", file)
    assert done.out.startswith(b"Query: clock mended\n\n1. ")
    file.write_text("qqq")
    done = run("search", "--db", db, "--queries", file)
    assert done.err == "1 query, 0 parents found; by pieces of none\n"


def test_on_a_terminal(db: Path) -> None:
    ours, theirs = os.openpty()
    process = start(
        "search", "--db", str(db), "who mended the clock?", "-k", "1", stdout=theirs,
        environment=[("TERM", "xterm"), ("COLUMNS", "60"), ("NO_COLOR", "")],
    )  # fmt: skip
    os.close(theirs)
    process.communicate()
    text = b""
    try:
        while data := os.read(ours, 65_536):
            text += data
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    os.close(ours)
    lines = text.decode().replace("\r", "").split("\n")
    assert any("\x1b[1;32mThe harbour clock was mended by Ada.\x1b[0m" in line for line in lines)
    assert "«" not in text.decode()
    assert all(line.startswith("   ") for line in lines[2:4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clock", "--db", "none.db"], "none.db: there is no index; make it with"),
        ([""], "the query is empty"),
        ([" \t"], "the query is empty"),
        ([], "give either a query or --queries FILE"),
        (["clock", "--queries", "q.txt"], "give either a query or --queries FILE"),
        (["--queries", "none.txt"], "none.txt: cannot be read"),
        (["clock", "-k", "0"], "-k is 0; ask for at least 1 parent"),
        (["clock", "--mode", "klingon"], "--mode 'klingon' is none of dense, lexical, hybrid"),
        (["clock", "--mode", "dense"], "x.db: was made with --lexical-only"),
        (["clock", "--mode", "hybrid"], "x.db: was made with --lexical-only"),
        (["clock", "--hyde"], "x.db: was made with --lexical-only"),
        (["clock", "--hyde", "--mode", "lexical"], "--hyde searches with a vector"),
        (["clock", "--level-bonus", "0,x"], "--level-bonus '0,x' is no list of numbers"),
        (["clock", "--level-bonus", "nan"], "--level-bonus 'nan' is no list of numbers"),
    ],
)
def test_what_cannot_work_is_one_line_and_status_2(
    db: Path, arguments: list[str], message: str
) -> None:
    done = run("search", "--db", db, *arguments)
    assert (done.status, done.out) == (2, b"")
    [line] = done.err.splitlines()
    assert line.startswith("lgmgc: ")
    assert message in line


def test_queries_that_are_none(db: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.txt"
    for data, message in ((b"caf\xe9", "is not UTF-8"), (b" \n", "holds no query")):
        file.write_bytes(data)
        done = run("search", "--db", db, "--queries", file)
        assert done.status == 2
        assert message in done.err


def hit(text: str, piece: tuple[int, int], view: str | None = None) -> Hit:
    parent = Passage("p", 0, 10, 10 + len(text), text)
    start, end = piece
    small = Passage("c", 1, start, end, text[max(0, start - 10) : max(0, end - 10)], view)
    return Hit(1, 0.5, "d", parent, small, (10, 10 + len(text)), text)


def test_what_is_marked() -> None:
    text = " One. Two. Three. "
    assert reading(hit(text, (10, 16)), terminal=False).plain == "«One.» Two. Three."
    assert reading(hit(text, (15, 28)), terminal=False).plain == "One. «Two. Three.»"
    assert reading(hit(text, (10, 28)), terminal=False).plain == "One. Two. Three."
    assert reading(hit(text, (0, 5)), terminal=False).plain == "One. Two. Three."  # not in it
    assert reading(hit(text, (15, 19)), terminal=True).spans[0].style == "bold green"


def test_harmless() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 می‌خواهم"
    assert harmless(family) == family
    assert harmless("a\rb\x85c\u2028d\x0ce\x07") == "a\nb\nc\nd\ne\\x07"


def test_a_json_line_is_one_line_for_everybody() -> None:
    text = "".join(map(chr, range(0x2100))) + "🙂"
    line = json_line(text)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == text
