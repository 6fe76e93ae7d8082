"""Sentences: spans that tile a text, white space belonging to the sentence before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nupunkt
import regex
import sentencex

from lgmgc.errors import UsageError
from lgmgc.text.units import units

# The first script that a paragraph's letters are mostly of decides; anything else is English.
_SCRIPTS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "zh": regex.compile(r"\p{Han}"),
    "ko": regex.compile(r"\p{Hangul}"),
    "ru": regex.compile(r"\p{Cyrillic}"),
    "ar": regex.compile(r"\p{Arabic}"),
    "el": regex.compile(r"\p{Greek}"),
    "hi": regex.compile(r"\p{Devanagari}"),
    "th": regex.compile(r"\p{Thai}"),
}
_SAMPLE = 200  # characters of a paragraph that its script is told by


def split(text: str, language: str = "auto") -> list[int]:
    """Where sentences begin, and the text's end.

    Blank lines, Markdown headings, list items and table rows end sentences; hard-wrapped prose
    does not. English is cut by nupunkt, other languages by sentencex; both work offline.

    Args:
        text: any text.
        language: an ISO 639 code, or ``auto``: by the script of each paragraph, English for Latin.

    Returns:
        ``n + 1`` rising offsets ``b``, where sentence ``k`` is ``text[b[k]:b[k + 1]]``;
        ``[0]`` for the empty text. A blank text is one sentence.

    Raises:
        UsageError: ``language`` is no language code.

    >>> split("He met Dr. Smith. They talked. ")
    [0, 18, 31]
    """
    check_language(language)
    if not text:
        return [0]
    starts = (
        unit_start + start
        for unit_start, unit_end in units(text)
        for start in _starts(text[unit_start:unit_end], language)
    )
    next(starts, None)  # the first sentence begins at 0: leading white space has none before it
    return [0, *starts, len(text)]


def check_language(language: str) -> None:
    """Refuse what cannot be a language code.

    Raises:
        UsageError: it is not.
    """
    if not re.fullmatch(r"auto|[a-z]{2,3}", language):
        raise UsageError(f"language {language!r} is not a code such as en, de, zh, or auto")


def _starts(unit: str, language: str) -> Iterator[int]:
    """Where sentences begin in a unit, which neither begins nor ends with white space."""
    if language == "auto":
        language = _language_of(unit)
    yield 0
    if language == "en":
        spans = nupunkt.sentence_spans(unit, paragraph_breaks=False)
        yield from (start for start, _ in spans[1:])
    else:
        for sentence in sentencex.get_sentence_boundaries(language, unit):
            start, piece = sentence["start_index"], sentence["text"]
            if start and piece.strip():
                # Its spans begin with the white space that ours give to the sentence before.
                yield start + len(piece) - len(piece.lstrip())


def _language_of(unit: str) -> str:
    sample = unit[:_SAMPLE]
    if sample.isascii():
        return "en"
    letters = sum(map(str.isalpha, sample))
    for language, script in _SCRIPTS.items():
        # Japanese is known by its kana, of which a sentence may hold few beside the Han.
        share = 0.2 if language == "ja" else 0.5
        if len(script.findall(sample)) > share * letters:
            return language
    return "en"
