"""The page: everything in one file, nothing from elsewhere, and a document's markup stays text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from lgmgc import __version__
from lgmgc.document import Chunk
from lgmgc.report import drawing
from lgmgc.report.layout import Piece, Segmented, beginning, pieces, shared_rows
from lgmgc.report.quiz import rounds
from lgmgc.report.trace import Scores

if TYPE_CHECKING:
    from jinja2 import Environment

ASSETS = Path(__file__).with_name("assets")
DEEPEST = 3
"""Levels of children with a rule of their own look."""


@dataclass(frozen=True, slots=True)
class Part:
    """A parent on the page.

    Attributes:
        number: from 1.
        chunk: the parent.
        size: in the unit of θ.
        repeats: characters at its beginning that the parent before showed already.
        words: its text, with rules where its children end.
        cut: where it is cut from the next, in code points; None for the last.
        score: the boundary score there, if one is known.
    """

    number: int
    chunk: Chunk
    size: int
    repeats: int
    words: Markup
    cut: int | None
    score: float | None


def report_page(
    segmented: Sequence[Segmented],
    scores: Scores | None,
    *,
    theta: int,
    unit: str,
    parts: Sequence[int] = (),
    quiz: Sequence[Segmented] = (),
    by: str = "",
) -> str:
    """A document's chunks as a page.

    Args:
        segmented: the same document by one method or several, side by side; the first leads.
        scores: the curve; None where no model scored anything.
        theta: θ.
        unit: what θ and the sizes count.
        parts: what θ is divided by for children of level 1, 2 …
        quiz: three ways to cut; fewer for no quiz.
        by: what made the scores, such as a model's name.

    Returns:
        HTML, to be written in UTF-8.
    """
    document = segmented[0].tree.document
    length = len(document.text)
    known = scores.at if scores else {}
    path, mark = drawing.histogram(segmented[0].sizes, theta)
    return (
        _environment()
        .get_template("report.html")
        .render(
            **_common(),
            document=document,
            segmented=segmented,
            scores=scores,
            known=known,
            theta=theta,
            unit=unit,
            levels=[f"θ/{part}" for part in parts],
            by=by,
            rows=_rows(segmented, known),
            contents=_contents(segmented[0]),
            curve=drawing.curve(known, length),
            dots=drawing.dots(known, length, segmented[0].cuts),
            dense=len(known) > drawing.DOTS,
            candidates=drawing.dots(known, length, known) if len(known) <= drawing.DOTS else "",
            lanes=[drawing.lane([*each.starts, length], length) for each in segmented],
            histogram=path,
            limit=mark,
            numbers=json.dumps(
                {
                    "at": list(known),
                    "score": [round(score, 3) for score in known.values()],
                    "cuts": segmented[0].cuts,
                    "length": length,
                },
                separators=(",", ":"),
            ),
            rounds=rounds(quiz, known, theta) if len(quiz) > 2 else [],
        )
    )


def render(template: str, **values: object) -> str:
    """Fill another template of this folder, with the same style and policy."""
    return _environment().get_template(template).render(**_common(), **values)


def inert(text: str) -> Markup:
    r"""Text as HTML that is read back as the same text.

    A browser would turn a bare CR into LF. NUL cannot stand in HTML; it becomes U+FFFD.

    >>> inert("</style>\r<b>")
    Markup('&lt;/style&gt;&#13;&lt;b&gt;')
    """
    return Markup(str(escape(text)).replace("\r", "&#13;").replace("\0", "\ufffd"))


def _rows(
    segmented: Sequence[Segmented], known: dict[int, float]
) -> Iterator[list[tuple[int, list[Part]]]]:
    """The parents of each row, by the method's number."""
    for row in shared_rows(segmented):
        yield [
            (number, [_part(segmented[number], k, known) for k in of])
            for number, of in enumerate(row)
        ]


def _part(segmented: Segmented, k: int, known: dict[int, float]) -> Part:
    chunk, start = segmented.tree.parents[k], segmented.starts[k]
    cut = segmented.starts[k + 1] if k + 1 < len(segmented.starts) else None
    score = None if cut is None else known.get(cut)
    words = _words(pieces(chunk, start))
    return Part(k + 1, chunk, segmented.sizes[k], start - chunk.start, words, cut, score)


def _words(found: Sequence[Piece]) -> Markup:
    """White space at a boundary is kept, within its rule, so that the page holds the exact text."""
    return Markup("").join(
        inert(piece.text)
        + Markup('<i class="{}">{}</i>').format(
            f"rule r{min(piece.level, DEEPEST)}" if piece.level else "end", inert(piece.space)
        )
        for piece in found
    )


def _contents(segmented: Segmented) -> Iterator[tuple[int, str, int, str, tuple[int, int] | None]]:
    """Number, first words, size, the heading where it is a new one, and pages of each parent."""
    before: tuple[str, ...] = ()
    chunks = zip(segmented.tree.parents, segmented.starts, segmented.sizes, strict=True)
    for number, (chunk, start, size) in enumerate(chunks, 1):
        path = chunk.headings
        heading = path[-1] if path and path != before else ""
        before = path
        text = chunk.document.text[start : min(chunk.end, start + 400)]
        yield number, beginning(text), size, heading, chunk.pages


def _common() -> dict[str, object]:
    style, script = (
        (ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return {
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy,
        "version": __version__,
    }


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _score(value: float | None, digits: int = 2) -> str:
    """A number with a true minus.

    >>> _score(-1.254, 1), _score(None)
    ('−1.3', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _count(value: int) -> str:
    return f"{value:,}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"inert": inert, "score": _score, "count": _count}
    return environment
