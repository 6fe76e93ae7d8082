import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lgmgc.chunkers import manual as module
from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.manual import Boundaries, manual, marked, read_boundaries
from lgmgc.chunkers.method import Parent
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.recursive import recursive
from lgmgc.document import Document
from lgmgc.errors import DocumentError, UsageError
from lgmgc.text.table import Limit
from tests.chunkers.cutting import (
    UNITS,
    anything,
    check_laws,
    finish,
    limits,
    prose,
    run,
    table,
    texts,
)
from tests.fake import TEXTS

LARGE = UNITS["words"](1_000)


def rows(*spans: tuple[int, int], document: str = "a") -> list[object]:
    return [{"document": document, "start": start, "end": end} for start, end in spans]


def write(folder: Path, lines: list[object]) -> Options:
    path = folder / "spans.jsonl"
    path.write_text(
        "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines),
        encoding="utf-8",
    )
    return Options(boundaries=path)


@pytest.mark.parametrize(
    ("spans", "chunks"),
    [
        ([(0, 6), (6, 12)], ["abcdef", "ghijkl"]),
        ([(6, 12), (0, 6)], ["abcdef", "ghijkl"]),  # in any order
        ([(2, 4), (7, 9)], ["ab", "cd", "efg", "hi", "jkl"]),  # gaps are parents
        ([(0, 8), (4, 12)], ["abcd", "efgh", "ijkl"]),  # overlapping spans are cut at both ends
        ([(3, 3)], ["abc", "defghijkl"]),
        ([(0, 12)], ["abcdefghijkl"]),
        ([(0, 0)], ["abcdefghijkl"]),
    ],
)
def test_spans_by_hand(tmp_path: Path, spans: list[tuple[int, int]], chunks: list[str]) -> None:
    text = "abcdefghijkl"
    options = write(tmp_path, [*rows((1, 2), document="b"), *rows(*spans), "\n"])
    assert texts(text, run(manual, text, LARGE, options)) == chunks


def test_what_exceeds_the_limit_is_divided(tmp_path: Path) -> None:
    text = "a b.\n\nc d\ne f g h i"
    options = write(tmp_path, rows((0, 4)))
    parents = run(manual, text, UNITS["words"](3), options)
    assert texts(text, parents) == ["a b.", "\n\nc d\n", "e f g ", "h i"]


def test_own_rows_are_boundaries(tmp_path: Path) -> None:
    text = TEXTS["Markdown"]
    made = run(recursive, text, UNITS["words"](20))
    lines: list[object] = [
        {"id": "x", "document": "a", "parent": None, "level": level, "start": start, "end": end}
        for parent in made
        for level, start, end in [
            (0, parent.start, parent.end),
            (1, parent.start, parent.start + 1),  # a child divides no parent
        ]
    ]
    assert run(manual, text, LARGE, write(tmp_path, lines)) == made


@pytest.mark.parametrize(
    ("text", "marker", "chunks"),
    [
        ("One.\n***\nTwo.\n", "***", ["One.\n***\n", "Two.\n"]),
        ("One.\r\n  *** \r\n\r\n\r\nTwo.", " ***", ["One.\r\n  *** \r\n\r\n\r\n", "Two."]),
        ("***\nOne.\n***\n***\nTwo.\n***", "***", ["***\n", "One.\n***\n", "***\n", "Two.\n***"]),
        ("One.\n***\n\n", "***", ["One.\n***\n\n"]),
        ("One *** two.\n****\n", "***", ["One *** two.\n****\n"]),
        ("", "***", []),
    ],
)
def test_markers_by_hand(text: str, marker: str, chunks: list[str]) -> None:
    assert texts(text, run(manual, text, LARGE, Options(marker=marker))) == chunks


def test_sections_that_exceed_the_limit_are_divided() -> None:
    text = "a b c.\n---\nd e f g h\n---\n"
    parents = run(manual, text, UNITS["words"](4), Options(marker="---"))
    assert texts(text, parents) == ["a b c.\n---\n", "d e f g ", "h\n", "---\n"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{\n", "line 2 is not a JSON object"),
        ("[" * 100_000 + "\n", "line 2 is not a JSON object"),
        ("[1]\n", "line 2 is not a JSON object"),
        ({"document": "a", "start": 0}, "line 2 needs a document's name, and a start and end"),
        ({"document": 1, "start": 0, "end": 1}, "line 2 needs"),
        ({"document": "a", "start": -1, "end": 1}, "line 2 needs"),
        ({"document": "a", "start": 0, "end": 1.0}, "line 2 needs"),
        ({"document": "a", "start": False, "end": True}, "line 2 needs"),
        ({"document": "a", "start": 4, "end": 3}, "line 2 has its start, 4, behind its end, 3"),
    ],
)
def test_rows_that_cannot_be(tmp_path: Path, line: object, message: str) -> None:
    options = write(tmp_path, [*rows((0, 1)), line])
    with pytest.raises(UsageError) as error:
        Settings("manual", options=options)
    assert str(error.value).startswith(f"{options.boundaries}: {message}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent.jsonl"
    with pytest.raises(UsageError, match=r"absent\.jsonl: cannot be read \(No such file"):
        run(manual, "abc", LARGE, Options(boundaries=absent))
    with pytest.raises(UsageError, match="cannot be read"):
        run(manual, "abc", LARGE, Options(boundaries=tmp_path))
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(b'{"document": "\xe9", "start": 0, "end": 1}\n')
    with pytest.raises(UsageError, match=r"latin\.jsonl: is not UTF-8"):
        run(manual, "abc", LARGE, Options(boundaries=latin))


def test_documents_that_the_file_does_not_fit(tmp_path: Path) -> None:
    options = write(tmp_path, [*rows((0, 2), document="b"), *rows((0, 9), (1, 10), (2, 10))])
    with pytest.raises(DocumentError) as error:
        run(manual, "abcdefghi", LARGE, options)
    assert str(error.value) == (
        f"a: {options.boundaries}, line 3 ends at character 10, but the text has 9"
    )
    options = write(tmp_path, rows((0, 2), document="b"))
    with pytest.raises(DocumentError) as error:
        run(manual, "abcdefghi", LARGE, options)
    assert str(error.value).startswith(f"a: has no rows in {options.boundaries}")
    assert run(manual, "", LARGE, options) == []  # has no rows to have


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(), "give one"),
        (Options(marker="x", boundaries=Path("y")), "give one"),
        (Options(marker=" \t"), "is not one line"),
        (Options(marker="a\nb"), "is not one line"),
    ],
)
def test_options_that_cannot_be(options: Options, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Settings("manual", options=options)


def test_a_file_is_read_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    rows_of = module._rows

    def noting(path: Path) -> Iterator[tuple[int, str, int, int]]:
        read.append(path)
        return rows_of(path)

    monkeypatch.setattr(module, "_rows", noting)
    options = write(tmp_path, [*rows((0, 1)), *rows((0, 2), document="b")])
    assert options.boundaries is not None

    def parents(name: str) -> list[Parent]:
        return finish(manual(table("abc", LARGE), options, Document(name, "abc")))

    assert [parent.end for parent in parents("a")] == [1, 3]
    assert [parent.end for parent in parents("b")] == [2, 3]
    assert len(read) == 1
    write(tmp_path, rows((0, 2)))
    os.utime(options.boundaries, (1, 1))
    assert [parent.end for parent in parents("a")] == [2, 3]
    assert len(read) == 2


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(rows((1, 2))[0]), encoding="utf-8-sig")
    assert read_boundaries(path) == {"a": Boundaries((1, 2), 1)}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", TEXTS)
def test_laws_on_awkward_texts(name: str, unit: str, tmp_path: Path) -> None:
    text, limit = TEXTS[name], UNITS[unit](60)
    third = len(text) // 3
    options = write(tmp_path, rows((third, 2 * third), (third + 1, len(text))))
    check_laws(text, run(manual, text, limit, options), limit)


@given(anything | prose, limits, st.data())
@settings(max_examples=100, deadline=None)
def test_laws_and_that_every_offset_is_a_boundary(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: Limit, data: st.DataObject
) -> None:
    offsets = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    options = write(tmp_path_factory.mktemp("a"), rows((offsets[0], offsets[1])))
    parents = run(manual, text, limit, options)
    check_laws(text, parents, limit)
    assert {0, *offsets} <= {0, *(parent.end for parent in parents)}


@given(anything | prose, limits, st.sampled_from(["a", ".", "aab", "天"]))
@settings(max_examples=200, deadline=None)
def test_laws_and_that_sections_end_with_markers(text: str, limit: Limit, marker: str) -> None:
    parents = run(manual, text, limit, Options(marker=marker))
    check_laws(text, parents, limit)
    ends = marked(text, marker)
    for end in ends:
        above = [line.strip() for line in text[:end].splitlines() if line.strip()]
        assert above[-1] == marker
        assert all(line.strip() for line in text[end:].splitlines()[:1])
    assert set(ends) <= {parent.end for parent in parents}
