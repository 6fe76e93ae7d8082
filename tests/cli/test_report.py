"""`lgmgc report` and `lgmgc search --html`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.report.pages import book


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LGMGC_MODEL", raising=False)
    (tmp_path / "a.txt").write_text(book(900))
    return tmp_path


def plain(path: Path) -> str:
    source = re.sub(r"<(style|script)>.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", source).split())


def test_the_real_model_scores_every_candidate(here: Path) -> None:
    text = book(200)
    (here / "b.txt").write_text(text)
    done = run("report", "b.txt", "--out", "b.html", "--theta", "60", "--compare", "mg",
               "--compare", "random")  # fmt: skip
    assert (done.status, done.out, done.err) == (0, b"", "")
    said = plain(here / "b.html")
    assert "smollm2-135m-instruct in" in said
    asked = int(re.findall(r"after each of (\d+) sentences", said)[0])
    # What is left at the end fits in θ, which four sentences do, and is not asked about.
    assert text.count("counted them.") - 4 <= asked < text.count("counted them.")
    scores = re.findall(r"cut \d+ log p\(\[EOS\]\) −([\d.]+)", said)
    assert len(scores) > 6
    assert min(map(float, scores)) > 1
    assert "at random sentence ends" in said
    assert (here / "b.html").stat().st_mode & 0o777 == 0o600


def test_a_chunks_file_is_as_its_manifest_says(here: Path) -> None:
    options = ("--method", "mg", "--unit", "characters", "--theta", "400")
    assert run("chunk", "a.txt", "--out", "a.jsonl", *options).status == 0
    done = run("report", "a.jsonl", "--out", "a.html")
    assert (done.status, done.err) == (0, "")
    said = plain(here / "a.html")
    assert "at most 400 characters" in said
    assert "mg" in said
    assert "No model scored this text" in said
    assert (here / "a.html").read_bytes() == _again(here, "a.jsonl")

    (here / "a.jsonl.manifest.json").unlink()
    done = run("report", "a.jsonl", "--out", "a.html", "--theta", "70")
    assert done.status == 0
    assert done.err == (
        "lgmgc: a.jsonl.manifest.json: no manifest that can be read, so θ is taken to be 70 words\n"
    )
    assert "at most 70 words" in plain(here / "a.html")


def _again(folder: Path, source: str) -> bytes:
    assert run("report", source, "--out", "again.html").status == 0
    return (folder / "again.html").read_bytes()


def test_one_of_several_documents(here: Path) -> None:
    (here / "b.txt").write_text("Another document. It is short.")
    options = ("--method", "recursive", "--out")
    assert run("chunk", "a.txt", "b.txt", *options, "both.jsonl").status == 0
    for source in (".", "both.jsonl"):
        done = run("report", source, *options, "page.html")
        assert done.status == 2
        assert "holds several documents; choose one with --document, such as '" in done.err
        assert not (here / "page.html").exists()
    assert run("report", "both.jsonl", "--document", "b.txt", "--out", "page.html").status == 0
    assert "Another document. It is short." in plain(here / "page.html")
    done = run("report", "both.jsonl", "--document", "c.txt", "--out", "page.html")
    assert done.err == (
        "lgmgc: both.jsonl: holds no document of the id 'c.txt'; give one that is there\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("none.txt", "--out", "p.html"), 2, "none.txt: no such file or folder"),
        (("a.txt", "--out", "no/p.html", "--method", "mg"), 2, "no/p.html: cannot be written"),
        (("a.txt", "--out", "a.txt", "--method", "mg"), 2, "a.txt: is the document itself"),
        (("a.txt", "--out", "p.html", "--compare", "x"), 2, "--compare 'x' is none of lgmgc, lg,"),
        (("binary.txt", "--out", "p.html"), 1, "binary.txt: holds a zero byte at offset 1"),
        (("torn.jsonl", "--out", "p.html"), 2, "torn.jsonl: line 2 is not a JSON object in UTF-8"),
    ],
)
def test_what_cannot_be_is_one_line(
    here: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    (here / "binary.txt").write_bytes(b"a\0b")
    assert run("chunk", "a.txt", "--method", "fixed", "--out", "torn.jsonl").status == 0
    (here / "torn.jsonl").write_bytes((here / "torn.jsonl").read_bytes()[:3000])
    before = (here / "a.txt").read_bytes()
    done = run("report", *arguments)
    assert (done.status, done.out) == (status, b"")
    assert done.err.startswith(f"lgmgc: {message}")
    assert done.err.count("\n") == 1
    assert not (here / "p.html").exists()
    assert (here / "a.txt").read_bytes() == before


def test_hits_as_a_page(here: Path) -> None:
    (here / "c.txt").write_text("The <b>clock</b> was mended by Ada. Nobody paid her.")
    assert run("index", "c.txt", "--db", "x.db", "--lexical-only", "--method", "mg",
               "--theta", "12").status == 0  # fmt: skip
    done = run("search", "--db", "x.db", "who mended the <clock>?", "--html", "hits.html")
    assert (done.status, done.out, done.err) == (0, b"", "")
    source = (here / "hits.html").read_text("utf-8")
    assert "who mended the &lt;clock&gt;?" in source
    assert "<mark>The &lt;b&gt;clock&lt;/b&gt; was mended by Ada.</mark> Nobody paid her." in source
    both = run("search", "--db", "x.db", "clock", "--html", "hits.html", "--json")
    assert (both.status, both.out) == (2, b"")
    index = run("search", "--db", "x.db", "clock", "--html", "x.db")
    assert index.err == "lgmgc: x.db: is the index; choose another name for --html\n"
