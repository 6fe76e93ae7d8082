"""`lgmgc report`: a document's chunks as one page to look at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.methods import METHODS, resolve
from lgmgc.chunkers.options import Options
from lgmgc.cli.chunking import Chunking, with_chunking
from lgmgc.cli.messages import say
from lgmgc.cli.progress import Watch
from lgmgc.cli.reading import with_reading
from lgmgc.document import Document, Tree
from lgmgc.errors import DocumentError, UsageError
from lgmgc.files import reader
from lgmgc.files.chunks import read_trees
from lgmgc.files.documents import Failure, Reading, documents
from lgmgc.files.manifest import beside
from lgmgc.files.whole_file import WholeFile

if TYPE_CHECKING:  # imported when a run needs them, so that --help comes at once
    from lgmgc.chunkers.load import LoadedModels
    from lgmgc.report.layout import Segmented

Named = TypeVar("Named", Document, Tree)
RANDOM = "random"


@dataclass(frozen=True, slots=True)
class _Chunks:
    """A document of a chunks file, and how the file was made.

    Attributes:
        tree: as it was read.
        method: by its manifest, else "chunks".
        label: what the scores are.
        by: the model's name, where the manifest has one.
    """

    tree: Tree
    method: str = "chunks"
    label: str = "score"
    by: str = ""


@with_reading
@with_chunking
def report(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT|CHUNKS.jsonl",
            help="A document, or chunks that `lgmgc chunk` wrote.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="PAGE.html", help="Where the page goes.", show_default=False)
    ],
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            help="Another method to put beside; may be repeated. random: at random sentence ends, "
            "with the sizes of the first.",
            show_default=False,
        ),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Which one, where there are several.", show_default=False),
    ] = None,
    *,
    chunking: Chunking,
    reading: Reading,
) -> None:
    """Show where a document is cut, and how sure the model was everywhere else.

    One HTML file that needs nothing else: the text, the curve of scores, sizes, contents, and a
    quiz. θ, unit and method of a chunks file are those of the manifest beside it.

    Example: lgmgc report book.txt --out book.html --theta 300 --compare recursive
    """
    settings, choice = chunking
    for name in compare or ():
        _beside(settings, name)  # refused before anything is read
    chunks = None
    if source != "-" and _holds_chunks(Path(source)):
        chunks, settings = _read_chunks(Path(source), document, settings)
        given = chunks.tree.document
    else:
        given = _read_document(source, document, reading)
    if source != "-" and out.exists() and out.samefile(source):
        raise UsageError(f"{out}: is the document itself; choose another name for --out")
    with WholeFile(out) as file:
        page = _page(given, chunks, settings, choice, compare or ())
        file.write(page.encode("utf-8"))
        file.commit()


def _page(
    given: Document,
    chunks: _Chunks | None,
    settings: Settings,
    choice: ModelChoice,
    compare: Sequence[str],
) -> str:
    from lgmgc.chunkers.load import LoadedModels
    from lgmgc.report.cutting import Cut, at_random, cut, named
    from lgmgc.report.page import report_page
    from lgmgc.report.trace import scores_of_cuts

    models = LoadedModels()
    wanted = [_beside(settings, name) for name in compare if name != RANDOM]
    runs = [*([] if chunks else [settings]), *wanted]
    size = len(given.text)
    watch = Watch(len(runs), size * len(runs), rows_on_terminal=False)

    def made(run: Settings) -> Cut:
        nonlocal models
        models = _models(run, choice, models)
        watch.opened(given, size)
        found = cut(given, run, models, watch.advanced)
        watch.finished(given)
        return found

    with watch:
        if chunks:
            if settings.unit == "tokens":
                models = _models(settings, choice, models)
            tree = chunks.tree
            scores = scores_of_cuts(tree, chunks.label)
            first = Cut(named(tree, chunks.method, settings, models), scores, chunks.by)
        else:
            first = made(settings)
        others = {name: made(_beside(settings, name)) for name in compare if name != RANDOM}
        # Without a model beside the first, only θ in tokens needs one.
        shuffled = at_random(first.segmented.tree, settings, models)
        rival = next(iter(others.values()), None) or cut(given, _rival(settings), models)
    side: list[Segmented] = [
        first.segmented,
        *(shuffled if name == RANDOM else others[name].segmented for name in compare),
    ]
    scored = [each for each in (first, *others.values()) if each.scores]
    scored.sort(key=lambda each: not (each.scores and each.scores.candidates))
    best = scored[0] if scored else first
    return report_page(
        side,
        best.scores,
        theta=settings.theta,
        unit=settings.unit,
        parts=settings.parts,
        quiz=[first.segmented, rival.segmented, shuffled],
        by=best.by,
    )


def _models(settings: Settings, choice: ModelChoice, models: LoadedModels) -> LoadedModels:
    """Those already loaded where they serve, so that no more than one method's are in memory."""
    from lgmgc.chunkers.load import load_models

    needs = {*settings.plan.needs, *(["scorer"] if settings.unit == "tokens" else [])}
    held = {"scorer": models.loaded, "writer": models.writer, "embedder": models.embedder}
    if all(held[need] is not None for need in needs):
        return models
    return load_models(settings, choice)


def _beside(settings: Settings, name: str) -> Settings:
    """The same θ for another method, with what it reads of the options."""
    if name not in METHODS:
        raise UsageError(f"--compare {name!r} is none of {', '.join(METHODS)}")
    read = resolve(name, settings.options).options
    options = Options(**{option: getattr(settings.options, option) for option in read})
    return replace(settings, method=name, options=options)


def _rival(settings: Settings) -> Settings:
    """What the quiz has beside the method where nothing is compared: it needs no model."""
    return _beside(settings, "sentences" if settings.method in ("recursive", "mg") else "recursive")


def _read_document(source: str, wanted: str | None, reading: Reading) -> Document:
    def found() -> Iterable[Document]:
        for place in reader.find([source]):
            for one in documents(place, reading):
                if not isinstance(one, Failure):
                    yield one.document
                elif wanted in (None, one.id):
                    raise DocumentError(one.message)

    return _only(source, found(), wanted)


def _holds_chunks(path: Path) -> bool:
    """Whether a file of JSON lines holds chunks; other fields are those of documents."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            row = json.loads(next((line for line in file if line.strip()), b""))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(row, dict) and {"level", "parent", "start", "end"} <= row.keys()


def _read_chunks(path: Path, wanted: str | None, settings: Settings) -> tuple[_Chunks, Settings]:
    tree = _only(str(path), read_trees(path), wanted)
    try:
        written = json.loads(beside(path).read_bytes())
        how: dict[str, Any] = written["configuration"]
        settings = Settings(
            settings.method, how["theta"], how["unit"], how["language"], tuple(how["children"])
        )
        eos = how.get("signal") == "eos" and not how.get("drift")
        by = (written.get("model") or {}).get("name", "")
        chunks = _Chunks(tree, how["method"], "log p([EOS])" if eos else "score", by)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        say(
            f"{beside(path)}: no manifest that can be read, so θ is taken to be {settings.theta} "
            f"{settings.unit}"
        )
        chunks = _Chunks(tree)
    return chunks, settings


def _only(source: str, found: Iterable[Named], wanted: str | None) -> Named:
    """The document of that id, or the only one.

    Raises:
        UsageError: there is none, or no choice was made between several.
    """
    first = None
    for one in found:
        name = (one if isinstance(one, Document) else one.document).id
        if name == wanted:
            return one
        if wanted is None and first is not None:
            raise UsageError(
                f"{source}: holds several documents; choose one with --document, such as {name!r}"
            )
        first = first or one
    if first is None or wanted is not None:
        which = "" if wanted is None else f" of the id {wanted!r}"
        raise UsageError(f"{source}: holds no document{which}; give one that is there")
    return first
