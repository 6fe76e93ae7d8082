"""`lgmgc search`: the best parents for a question."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from lgmgc.chunkers.load import ModelChoice
from lgmgc.cli import finding, show
from lgmgc.cli.chunking import Cache
from lgmgc.cli.messages import one_line, say, tell
from lgmgc.errors import UsageError
from lgmgc.files.standard_output import StandardOutput
from lgmgc.files.whole_file import WholeFile
from lgmgc.retrieval.hits import Hit

INDENT = 3


def search(
    db: Annotated[Path, typer.Option(metavar="FILE.db", help="The index.", show_default=False)],
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="Any text.", show_default=False),
    ] = None,
    k: finding.K = 5,
    mode: finding.Wanted = None,
    hyde: finding.WithHyde = False,
    hyde_average: finding.HydeAverage = False,
    level_bonus: finding.LevelBonus = "",
    queries: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A query on each line.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="An array of hits; with --queries an object on each line."),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE.html", help="Write the hits as a page instead.", show_default=False
        ),
    ] = None,
    embedder: finding.EmbedderName = None,
    model: finding.ModelName = None,
    device: finding.Device = "auto",
    precision: finding.Precision = "auto",
    cache: Cache = None,
) -> None:
    """Find the parents whose best pieces match, best first.

    The piece that matched is marked in the parent's text.

    Example: lgmgc search --db notes.db "Who mended the harbour clock?" -k 3
    """
    wanted = finding.check_search(k, mode, hyde, hyde_average, level_bonus)
    questions = _questions(query, queries)
    if html is not None and as_json:
        raise UsageError("--html and --json are two ways to give the hits; choose one")
    choice = ModelChoice(model, embedder, device=device, precision=precision, cache=cache)
    opened = finding.open_index(db, wanted, choice)
    with opened.index as index:
        writer = finding.load_writer_of(choice) if wanted.hyde else None
        vectors = finding.make_hyde(wanted, writer, opened.embedder)
        won: Counter[int] = Counter()
        page: list[tuple[str, list[Hit]]] = []
        for question in questions:
            hits = index.search(
                question,
                k,
                mode=opened.mode,
                vector=vectors.vector(question) if vectors else None,
                level_bonus=wanted.level_bonus,
            )
            won.update(hit.piece.level for hit in hits)
            if html is not None:
                page.append((question, hits))
            elif as_json:
                found = [show.hit_as_json(hit) for hit in hits]
                _print(show.json_line({"query": question, "hits": found} if queries else found))
            else:
                _show(hits, question if queries else "")
    if html is not None:
        _write_page(html, page, db, opened.mode)
    if queries:
        tell(_levels(len(questions), won))
    elif not won and not as_json:
        say("nothing was found")


def _write_page(
    path: Path, found: Sequence[tuple[str, Sequence[Hit]]], db: Path, mode: str
) -> None:
    from lgmgc.report.hits import hits_page

    if path.exists() and path.samefile(db):
        raise UsageError(f"{path}: is the index; choose another name for --html")
    with WholeFile(path) as file:
        file.write(hits_page(found, index=str(db), mode=mode).encode("utf-8"))
        file.commit()


def _questions(query: str | None, queries: Path | None) -> Sequence[str]:
    if (query is None) == (queries is None):
        raise UsageError("give either a query or --queries FILE")
    if query is not None:
        if not query.strip():
            raise UsageError("the query is empty; search for something")
        return [query]
    assert queries is not None
    try:
        lines = queries.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UsageError(f"{queries}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{queries}: is not UTF-8; save the queries as UTF-8") from None
    questions = [line.strip() for line in lines if line.strip()]
    if not questions:
        raise UsageError(f"{queries}: holds no query; write one on each line")
    return questions


def _show(hits: Sequence[Hit], question: str) -> None:
    """For people: with style on a terminal, else without."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    if terminal:
        console = Console(highlight=False)
        if question:
            console.print(Text(f"Query: {one_line(question)}\n", "bold"))
        for hit in hits:
            console.print(Text(show.heading(hit), "bold"))
            console.print(Padding(show.reading(hit, terminal=True), (0, 0, 1, INDENT)))
    else:
        _print("".join(_plain(hits, question)).encode())


def _plain(hits: Sequence[Hit], question: str) -> Iterator[str]:
    if question:
        yield f"Query: {one_line(question)}\n\n"
    for hit in hits:
        yield f"{show.heading(hit)}\n"
        for line in show.reading(hit, terminal=False).plain.split("\n"):
            yield f"{' ' * INDENT}{line}\n" if line.strip() else "\n"
        yield "\n"


def _print(data: bytes) -> None:
    output = StandardOutput()
    output.write(data)
    output.flush()


def _levels(questions: int, won: Counter[int]) -> str:
    total = sum(won.values())
    shares = ", ".join(
        f"level {level} {count:,} ({count / total:.0%})" for level, count in sorted(won.items())
    )
    quantity = f"{questions:,} quer{'y' if questions == 1 else 'ies'}"
    return f"{quantity}, {total:,} parents found; by pieces of {shares or 'none'}"
