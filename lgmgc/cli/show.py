"""Documents' text on a user's screen and in JSON: as it is, and harmless."""

from __future__ import annotations

import json
import re

from rich.text import Text

from lgmgc.cli.messages import one_line
from lgmgc.retrieval.hits import Hit, Passage
from lgmgc.text.sizes import count_words

FOUND = "bold green"
MARKS = ("«", "»")

# What steers a terminal or turns the direction of what stands beside it. Joiners are left: emoji
# and several scripts are written with them.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNSAFE_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""Text for a terminal: its lines and tabs as they are, what could steer it escaped.

    >>> harmless("one\r\ntwo \x1b[2J [bold]")
    'one\ntwo \\x1b[2J [bold]'
    """
    lines = _LINE_END.sub("\n", text)
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), lines)


def json_line(value: object) -> bytes:
    """One line of JSON in UTF-8 that is one line for every program and steers no terminal."""
    line = json.dumps(value, ensure_ascii=False)
    return _UNSAFE_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", line).encode() + b"\n"


def hit_as_json(hit: Hit) -> dict[str, object]:
    """A hit with its texts."""
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "document": hit.document,
        "start": hit.reading[0],
        "end": hit.reading[1],
        "text": hit.text,
        "parent": _passage(hit.parent),
        "piece": _passage(hit.piece),
    }


def heading(hit: Hit) -> str:
    """Where a hit is and why, on one line, and on another what stood for its piece."""
    start, end = hit.reading
    words = count_words(hit.text)
    line = f"{hit.rank}. {one_line(hit.document)} {start}–{end}  score {hit.score:.4f}, "
    line += f"{words:,} word{'s' * (words != 1)}, {_won(hit)}"
    if hit.parent.pages:
        first, last = hit.parent.pages
        line += f", page {first}" if first == last else f", pages {first}–{last}"
    if hit.parent.headings:
        line += f", under {one_line(' › '.join(hit.parent.headings))}"
    view = hit.piece.view
    return line if view is None else f"{line}\nfound as: {one_line(view)}"


def reading(hit: Hit, *, terminal: bool) -> Text:
    """What to read of a hit, with the winning piece marked unless it is all that is shown.

    Args:
        hit: from a search.
        terminal: whether a style marks the piece; else «…» do.
    """
    text = hit.text
    begin, stop = _trimmed(text, 0, len(text))
    offset = hit.reading[0]
    start, end = _trimmed(
        text, max(begin, hit.piece.start - offset), min(stop, hit.piece.end - offset)
    )
    if start >= end or (start, end) == (begin, stop):
        return Text(harmless(text[begin:stop]))
    before, after = ("", "") if terminal else MARKS
    shown = Text(harmless(text[begin:start]))
    shown.append(f"{before}{harmless(text[start:end])}{after}", FOUND)
    shown.append(harmless(text[end:stop]))
    return shown


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without the white space at its ends."""
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _won(hit: Hit) -> str:
    piece = hit.piece
    if piece.id == hit.parent.id:
        return "found as a whole"
    return f"found by level {piece.level} ({piece.start}–{piece.end})"


def _passage(passage: Passage) -> dict[str, object]:
    return {
        "id": passage.id,
        "level": passage.level,
        "start": passage.start,
        "end": passage.end,
        "view": passage.view,
        "pages": passage.pages,
        "headings": passage.headings,
        "text": passage.text,
    }
