"""Index, search, ask with the real small models, on documents that are made here."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from lgmgc.lm.store import default_cache
from lgmgc.retrieval import Index
from tests.cli.program import run, start
from tests.retrieval.fake import dump

# A fact and a question about it in other words; each fact stands in the midst of a document.
FACTS = {
    "lighthouse": ("The lamp on Skerry Rock flashes every eleven seconds.", "sailors at night"),
    "sourdough": ("Sourdough needs sixteen hours to rise in a cold kitchen.", "flour and water"),
    "volcano": ("Mount Arvo last erupted in 1873 and buried two villages.", "lava and ash"),
    "chess": ("The Sicilian defence answers the king's pawn with the c-pawn.", "openings"),
    "glacier": ("The Blue Glacier loses forty metres of its length a year.", "ice and valleys"),
    "beekeeping": ("A hive in summer holds about sixty thousand bees.", "honey and swarms"),
    "violin": ("Good violins have tops of spruce and backs of maple.", "strings and varnish"),
    "vaccine": ("The second dose of the vaccine is given after eight weeks.", "nurses and clinics"),
    "railway": ("The night train to Oslo leaves from platform nine.", "tickets and stations"),
    "cathedral": ("The cathedral's spire was struck by lightning in 1561.", "masons and stone"),
    "tax": ("Tax returns of small firms are due on the last day of May.", "forms and offices"),
    "owl": ("The barn owl hears a mouse beneath a foot of snow.", "feathers and fields"),
    "submarine": ("The submarine Otter could stay under water for ninety days.", "crews and depth"),
    "tea": ("Green tea turns bitter when the water boils.", "leaves and cups"),
    "football": ("The referee may add time for injuries at the end of a half.", "goals and teams"),
    "desert": ("Camels drink a hundred litres in ten minutes.", "sand and caravans"),
    "printing": ("Movable type was cast from lead, tin and antimony.", "ink and paper"),
    "bridge": ("The Tolva bridge was closed because its cables had rusted.", "rivers and steel"),
    "comet": ("Comet Varga returns once in seventy-one years.", "telescopes and tails"),
    "library": ("The library lends maps for three weeks, atlases never.", "shelves and readers"),
}
QUESTIONS = {
    "When did the mountain last bury villages?": "volcano",
    "Which woods is a good fiddle made of?": "violin",
    "How long can the crew remain submerged?": "submarine",
    "Why was the crossing over the river shut?": "bridge",
    "How many insects live together in a hive?": "beekeeping",
}
TOP = ("-k", "1", "--json", "--device", "cpu")
MG = ("--method", "mg", "--theta", "48", "--device", "cpu")


def document(topic: str) -> str:
    fact, about = FACTS[topic]
    filler = [
        f"This page is about the {topic}, and so about {about}. "
        f"People have written on it in {year}, and their notes are kept. "
        f"Chapter {number} says more.\n\n"
        for number, year in enumerate(range(1990, 1994), 1)
    ]
    return "".join((*filler[:2], f"{fact} That was checked twice.\n\n", *filler[2:]))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flow")
    (folder / "docs").mkdir()
    for topic in FACTS:
        (folder / f"docs/{topic}.txt").write_text(document(topic))
    return folder


@pytest.fixture(scope="module")
def db(here: Path) -> Path:
    path = here / "x.db"
    done = run("index", here / "docs", "--db", path, *MG)
    assert done.status == 0, done.err
    assert done.err.startswith("20 documents: 20 added, 0 replaced, 0 skipped, ")
    assert path.stat().st_mode & 0o777 == 0o600
    return path


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_a_question_finds_the_parent_that_holds_its_answer(here: Path, db: Path, mode: str) -> None:
    (here / "q.txt").write_text("\n".join(QUESTIONS))
    done = run("search", "--db", db, "--queries", here / "q.txt", "--mode", mode, "--json")
    rows = [json.loads(line) for line in done.out.splitlines()]
    for row, topic in zip(rows, QUESTIONS.values(), strict=True):
        assert len({(hit["document"], hit["start"]) for hit in row["hits"]}) == 5
        if mode == "dense":
            first = row["hits"][0]
            assert first["document"] == f"{here}/docs/{topic}.txt", row["query"]
            assert FACTS[topic][0] in first["text"], row["query"]
        assert any(FACTS[topic][0] in hit["text"] for hit in row["hits"])
    assert done.err.startswith("5 queries, 25 parents found; by pieces of level 0 ")


def test_hyde(here: Path, db: Path) -> None:
    question = ("Which woods is a good fiddle made of?", *TOP)
    [plain], [average] = (
        json.loads(run("search", "--db", db, *question, *more).out)
        for more in ((), ("--hyde-average",))
    )
    assert average["document"] == f"{here}/docs/violin.txt"
    assert average["score"] != plain["score"]


def test_an_answer(here: Path, db: Path) -> None:
    # The small model reads right about every second time; this is one of those.
    question = "Why was the Tolva bridge closed?"
    options = ("-k", "1", "--device", "cpu", "--precision", "fp32", "--most", "40")
    done = run("ask", "--db", db, question, *options)
    assert done.status == 0, done.err
    answer, below = done.out.decode().rsplit("\n\n", 1)
    assert "rusted" in answer
    assert f"[1] {here}/docs/bridge.txt " in below


def test_another_embedder_is_refused(db: Path, tmp_path: Path) -> None:
    # The same weights by a name that asks for prefixes: other vectors, so another embedder.
    kept = default_cache() / "models" / "all-minilm-l6-v2"
    other = shutil.copytree(kept, tmp_path / "e5-small")
    done = run("search", "--db", db, "owl", "--embedder", other, "--device", "cpu")
    assert (done.status, done.out) == (2, b"")
    [line] = done.err.splitlines()
    assert line.startswith(f"lgmgc: {db}: was made with the embedder all-minilm-l6-v2 (")


def test_lexical_needs_no_embedder(db: Path, tmp_path: Path) -> None:
    done = run("search", "--db", db, "barn owl", "--mode", "lexical", "--cache", tmp_path, "--json")
    assert done.status == 0
    assert "barn owl" in json.loads(done.out)[0]["text"]


def test_int8_finds_the_same(here: Path, db: Path) -> None:
    desert = here / "docs/desert.txt"
    run("index", desert, here / "docs/tea.txt", "--db", here / "i8.db", *MG, "--vectors", "int8")
    [exact], [close] = (
        json.loads(run("search", "--db", path, "How fast do camels drink?", *TOP).out)
        for path in (db, here / "i8.db")
    )
    assert exact["text"] == close["text"]
    assert 0 < abs(exact["score"] - close["score"]) < 0.01


def test_lgmgc_is_cut_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for topic in ("owl", "tea"):
        (tmp_path / f"{topic}.txt").write_text(document(topic)[:500])
    options = ("--theta", "40", "--device", "cpu", "--precision", "bf16")
    done = run("index", tmp_path, "--db", tmp_path / "x.db", *options)
    assert done.err.startswith("2 documents: 2 added, ")
    before = dump(tmp_path / "x.db")

    def never(*arguments: object) -> None:
        raise AssertionError("the language model was asked for")

    with monkeypatch.context() as patch:
        patch.setattr("lgmgc.cli.indexing.load_models", never)
        done = run("index", tmp_path, "--db", tmp_path / "x.db", *options)
        assert done.err.startswith("2 documents: 0 added, 0 replaced, 2 skipped, ")
    assert dump(tmp_path / "x.db") == before
    (tmp_path / "tea.txt").write_text(document("tea")[:400])
    (tmp_path / "owl.txt").unlink()
    done = run("index", tmp_path, "--db", tmp_path / "x.db", *options, "--prune")
    assert done.err.startswith("1 document: 0 added, 1 replaced, 0 skipped, 1 pruned, ")


def test_killed_and_run_again(here: Path, db: Path) -> None:
    path = here / "killed.db"
    process = start("index", str(here / "docs"), "-", "--db", str(path), *MG)
    while process.poll() is None and _count(path) < 3:  # standard input keeps it from ending
        time.sleep(0.01)
    process.kill()
    process.communicate()
    left = _count(path)
    assert 3 <= left <= 20
    done = run("index", here / "docs", "--db", path, *MG)
    assert done.err.startswith(f"20 documents: {20 - left} added, 0 replaced, {left} skipped, ")
    assert dump(path) == dump(db)


def _count(path: Path) -> int:
    try:
        with Index.open(path) as index:
            return index.counts().documents
    except Exception:  # not there yet
        return 0
