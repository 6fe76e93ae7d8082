"""What a method may ask of the models: sentences scored, options weighed, text written, vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Signal = Literal["eos", "surprise", "topic", "loss"]
"""What one pass over a window says after, or of, each of its sentences.

``eos``: log p([EOS]) after the sentence (the paper's). ``surprise``: how badly the first tokens of
the next sentence are predicted, in nats a token, beyond how rare they are in the document.
``topic``: minus the cosine of what the model makes of the sentences before and after, see
`lgmgc.lm.topic`. ``loss``: how badly the sentence itself is predicted, in nats a token.
"""


def looks_ahead(signals: tuple[Signal, ...]) -> bool:
    """Whether what is said after a sentence depends on the next one."""
    return "surprise" in signals or "topic" in signals


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences to be read in one pass.

    Answered by an array of shape (signals, sentences), float64, higher where a boundary is more
    likely, but for ``loss``; NaN where a signal says nothing.

    Attributes:
        start: the first sentence.
        stop: one past the last.
        signals: what to answer.
    """

    start: int
    stop: int
    signals: tuple[Signal, ...] = ("eos",)


@dataclass(frozen=True, slots=True)
class Choice:
    """Answers of the model to be weighed instead of written.

    Answered by an array of shape (options,), float64: the log p of each answer.

    Attributes:
        start: the first sentence that the instruction is about.
        stop: one past the last.
        instruction: the user's turn.
        begin: how the model's turn begins.
        options: how it may go on; none of them the beginning of another.
    """

    start: int
    stop: int
    instruction: str
    begin: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Writing:
    """Text to be written by the model, greedily.

    Answered by a str.

    Attributes:
        start: the first sentence that the instruction is about.
        stop: one past the last.
        instruction: the user's turn.
        most: tokens to write at most.
    """

    start: int
    stop: int
    instruction: str
    most: int


@dataclass(frozen=True, slots=True)
class Embedding:
    """Texts to be embedded.

    Answered by an array of shape (texts, dimensions), float32, of unit rows.

    Attributes:
        start: the first sentence that the texts are made of.
        stop: one past the last.
        texts: at least one.
    """

    start: int
    stop: int
    texts: tuple[str, ...]


Request = Window | Choice | Writing | Embedding
