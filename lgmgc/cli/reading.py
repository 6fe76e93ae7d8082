"""The options of reading documents, which several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from lgmgc.cli.sharing import sharing
from lgmgc.files.documents import Reading
from lgmgc.files.reader import check_encoding

PATHS = (
    "Files, folders, or - for standard input. Read are .txt, .md, .html, .pdf, .docx, .pptx, "
    ".xlsx, .epub, and .jsonl, .csv and .parquet with one document a line or row."
)
READING = "Reading"
_DEFAULT = Reading()


def _reading(
    encoding: Annotated[
        str, typer.Option(help="Of files of text.", rich_help_panel=READING)
    ] = _DEFAULT.encoding,
    errors: Annotated[
        Literal["strict", "replace"],
        typer.Option(
            help="What to do with bytes that are not valid in the encoding.",
            rich_help_panel=READING,
        ),
    ] = _DEFAULT.errors,
    text_column: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The column, or field of JSON lines, that holds the text.",
            rich_help_panel=READING,
        ),
    ] = _DEFAULT.text_column,
    normalize: Annotated[
        bool,
        typer.Option(
            "--normalize",
            help="Take out soft hyphens and what repeats at the top and foot of PDF pages, spell "
            "ligatures out, and end lines with LF; spans are then those of this text.",
            rich_help_panel=READING,
        ),
    ] = _DEFAULT.normalize,
) -> Reading:
    check_encoding(encoding)
    return Reading(encoding, errors, text_column, normalize)


with_reading = sharing(_reading, "reading")
"""Gives a command the options of reading; it gets a `Reading` as ``reading``.

It goes together with `lgmgc.cli.chunking.with_chunking`, in any order. An encoding that Python
does not know is refused before the command begins.
"""
