"""`lgmgc ask`: an answer from the best parents, with citations."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from lgmgc.chunkers.load import ModelChoice
from lgmgc.cli import finding, show
from lgmgc.cli.chunking import Cache
from lgmgc.cli.messages import one_line
from lgmgc.errors import UsageError
from lgmgc.files.standard_output import StandardOutput
from lgmgc.retrieval.answer import Answer, Answerer
from lgmgc.retrieval.passages import Source


def ask(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="Any text.", show_default=False)
    ],
    db: Annotated[
        Path | None, typer.Option(metavar="FILE.db", help="The index.", show_default=False)
    ] = None,
    k: finding.K = 5,
    mode: finding.Wanted = None,
    hyde: finding.WithHyde = False,
    hyde_average: finding.HydeAverage = False,
    level_bonus: finding.LevelBonus = "",
    whole_document: Annotated[
        bool,
        typer.Option(
            "--whole-document",
            help="Read the document of the best parent, from its beginning as far as it fits.",
        ),
    ] = False,
    closed_book: Annotated[
        bool, typer.Option("--closed-book", help="Read nothing: ask what the model knows.")
    ] = False,
    context_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens that the passages may have. Left out: what the model's context leaves.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[int, typer.Option(help="Tokens of the answer.")] = 256,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object: the answer, what was cited and given.")
    ] = False,
    model: finding.ModelName = None,
    embedder: finding.EmbedderName = None,
    device: finding.Device = "auto",
    precision: finding.Precision = "auto",
    cache: Cache = None,
) -> None:
    """Let a local model answer a question from the best parents, and cite them.

    The answer appears while it is written. It is the model's: read it together with what it cites.

    Example: lgmgc ask --db notes.db "Who mended the harbour clock?"
    """
    wanted = finding.check_search(k, mode, hyde, hyde_average, level_bonus)
    if not question.strip():
        raise UsageError("the question is empty; ask something")
    for name, number in (("--context-tokens", context_tokens), ("--most", most)):
        if number is not None and number < 1:
            raise UsageError(f"{name} is {number}; it needs at least 1")
    if closed_book and (wanted.hyde or whole_document):
        raise UsageError("--closed-book reads nothing; leave out --hyde and --whole-document")
    if db is None and not closed_book:
        raise UsageError("no index to answer from; give --db FILE.db, or --closed-book")
    choice = ModelChoice(model, embedder, device=device, precision=precision, cache=cache)

    with ExitStack() as stack:
        opened = None
        if db is not None and not closed_book:
            opened = finding.open_index(db, wanted, choice)
            stack.enter_context(opened.index)
        writer = finding.load_writer_of(choice)
        answerer = Answerer(
            opened.index if opened else None,
            writer,
            mode=opened.mode if opened else None,
            hyde=finding.make_hyde(wanted, writer, opened.embedder if opened else None),
            level_bonus=wanted.level_bonus,
            whole_document=whole_document,
            context_tokens=context_tokens,
            most=most,
        )
        _print(answerer, question, k, as_json)


def _print(answerer: Answerer, question: str, k: int, as_json: bool) -> None:
    output = StandardOutput()
    said = written = ""
    with ExitStack() as waiting:
        waiting.enter_context(finding.busy("reading"))

        def show_piece(piece: str) -> None:
            nonlocal said, written
            waiting.close()
            said += piece
            new = said.strip()[len(written) :]  # white space waits for what comes behind it
            written += new
            output.write(show.harmless(new).encode())
            output.flush()

        if as_json:
            below = show.json_line(_as_json(answerer.ask(question, k)))
        else:
            below = _sources(answerer.ask(question, k, show_piece)).encode()
    output.write(below)
    output.flush()


def _sources(answer: Answer) -> str:
    """What comes below an answer: where it says that it is from."""
    if not answer.sources:
        return "\n"
    shown = answer.citations
    heading = ""
    if not shown:
        shown = answer.sources
        heading = "It cites nothing; it was given:\n"
    return f"\n\n{heading}" + "".join(f"{_place(source)}\n" for source in shown)


def _place(source: Source) -> str:
    cut = " (cut off there)" if source.cut else ""
    return f"[{source.number}] {one_line(source.document)} {source.start}–{source.end}{cut}"


def _as_json(answer: Answer) -> dict[str, object]:
    return {
        "question": answer.question,
        "answer": answer.text,
        "found": answer.found,
        "citations": [_source(source) for source in answer.citations],
        "parents": [_source(source) for source in answer.sources],
        "tokens": {"prompt": answer.prompt_tokens, "answer": answer.answer_tokens},
    }


def _source(source: Source) -> dict[str, object]:
    return {
        "number": source.number,
        "document": source.document,
        "start": source.start,
        "end": source.end,
        "score": round(source.score, 6),
        "cut": source.cut,
    }
