"""What is measured: the shapes of a model and of its work, windows and documents made up from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from lgmgc.lm.windows import TokenWindow

TOKENS_PER_WORD = 1.35
LONGEST_SENTENCE = 80  # words


@dataclass(frozen=True, slots=True)
class Shape:
    """A model's sizes and how much work it is given.

    Attributes:
        name: for tables.
        llama: of `transformers.LlamaConfig`.
        thetas: θ in words; the one in the middle is used where one must do.
        budgets: token places of a batch.
        square: rows and columns of the large products that tell a card's own rate.
        case: seconds that one measurement is given, beside its warm-up; 0 where time says nothing.
        calls: of a kernel under the clock.
        stream: seconds of the end-to-end run.
        group: words of the writer's prompts.
        checked: windows whose cuts are compared, and how many of them the CPU reads too.
    """

    name: str
    llama: dict[str, Any]
    thetas: tuple[int, ...]
    budgets: tuple[int, ...]
    square: int
    case: float
    calls: int
    stream: float
    group: int
    checked: tuple[int, int]

    @property
    def theta(self) -> int:
        return self.thetas[len(self.thetas) // 2]

    @property
    def budget(self) -> int:
        """The budget that is used where one must do: lgmgc's own on CUDA, or the largest."""
        return 16_384 if 16_384 in self.budgets else self.budgets[-1]


LLAMA_3_8B = Shape(
    "Llama-3-8B's shapes",
    {
        "vocab_size": 128_256,
        "hidden_size": 4_096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
    thetas=(200, 300, 500),
    budgets=(2_048, 4_096, 8_192, 16_384, 32_768, 65_536),
    square=8_192,
    case=1.2,
    calls=10,
    stream=10.0,
    group=420,
    checked=(160, 48),
)
TINY = Shape(
    "a tiny Llama",
    {
        "vocab_size": 8_448,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    },
    thetas=(20, 30, 50),
    budgets=(128, 256),
    square=64,
    case=0.0,
    calls=1,
    stream=0.1,
    group=100,
    checked=(8, 5),
)
SMALL = {
    "vocab_size": 1_024,
    "hidden_size": 128,
    "intermediate_size": 384,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
"""The random model whose cuts are compared where no real one is at hand."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window with its words counted."""

    window: TokenWindow
    words: int


def sentence_lengths(random: np.random.Generator, count: int) -> list[int]:
    """Words of sentences as in prose: log-normal around 16, few beyond 60."""
    drawn = np.exp(random.normal(np.log(16), 0.6, count)).round()
    return [int(length) for length in drawn.clip(1, LONGEST_SENTENCE)]


def windows(theta: int, tokens: int, vocabulary: int, seed: int = 0) -> list[Window]:
    """Windows of whole sentences that fit in θ words, longest first, of so many tokens together."""
    random = np.random.default_rng(seed)
    made: list[Window] = []
    while tokens > 0:
        words = sentence_lengths(random, theta)
        fitting = max(1, sum(total <= theta for total in accumulate(words)))
        ends = np.cumsum([_tokens(random, length) for length in words[:fitting]])
        ids = random.integers(0, vocabulary, ends[-1]).astype(np.int32)
        made.append(Window(TokenWindow(ids, ends), sum(words[:fitting])))
        tokens -= len(ids)
    return sorted(made, key=lambda window: -len(window.window.ids))


def _tokens(random: np.random.Generator, words: int) -> int:
    return max(1, round(words * random.normal(TOKENS_PER_WORD, 0.12)))


@dataclass(slots=True)
class Prose:
    """Documents of made-up words, drawn as Zipf's law has them.

    Attributes:
        seed: of the words and of what is drawn from them.
    """

    seed: int = 0
    _random: np.random.Generator = field(init=False)
    _words: list[str] = field(init=False)
    _weights: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        syllables = [a + b for a in "bdfglmnprstvw" for b in ("a", "e", "in", "o", "ur")]
        lengths = self._random.integers(1, 5, 8_000)
        drawn = ("".join(self._random.choice(syllables, length)) for length in lengths)
        self._words = list(dict.fromkeys(drawn))
        weights = 1 / np.arange(1, len(self._words) + 1)
        self._weights = np.cumsum(weights / weights.sum())

    def document(self, words: int) -> tuple[str, list[int]]:
        """A text and where its sentences begin and end, as `lgmgc.text.sentences.split` gives them."""
        lengths = sentence_lengths(self._random, max(1, words // 18))
        bounds, pieces = [0], []
        for length in lengths:
            places = np.searchsorted(self._weights, self._random.random(length))
            text = " ".join(self._words[min(k, len(self._words) - 1)] for k in places)
            pieces.append(f"{text.capitalize()}. ")
            bounds.append(bounds[-1] + len(pieces[-1]))
        return "".join(pieces), bounds
