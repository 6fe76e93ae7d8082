"""A language model whose scores the test chooses, and texts that are hard to keep exact."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lgmgc.lm.windows import ScoreArray, TokenWindow

Choose = Callable[[TokenWindow], Sequence[float]]


class FakeScorer:
    """One token a character, scores by a function of the window.

    Attributes:
        batches: the windows' lengths of every call.
    """

    def __init__(self, choose: Choose, context: int = 100_000) -> None:
        self.choose = choose
        self.context = context
        self.batches: list[list[int]] = []

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [[ord(character) for character in text] for text in texts]

    def score(self, windows: Sequence[TokenWindow]) -> list[ScoreArray]:
        self.batches.append([len(window.ids) for window in windows])
        assert max(self.batches[-1]) <= self.context
        return [self._signals(window) for window in windows]

    def _signals(self, window: TokenWindow) -> ScoreArray:
        # The first signal is the chosen one, the others the same, shifted and mirrored.
        chosen = np.asarray(self.choose(window), float)
        return np.stack([(-1) ** k * chosen + k for k in range(len(window.signals))])

    @property
    def tokens(self) -> int:
        return sum(map(sum, self.batches))


def _seeded(window: TokenWindow) -> Sequence[float]:
    seed = int(window.ids.astype(np.int64).sum()) * 31 + len(window.ends)
    return np.random.default_rng(seed).normal(-10, 2, len(window.ends)).tolist()  # type: ignore[no-any-return]


class FakeWriter:
    """A model that answers what its prompt's hash draws: right, wrong, and nonsense.

    Attributes:
        read: characters of prompts.
    """

    ANSWERS = (
        "Answer: ID 0002", "Answer: ID 0003", "ID 2", "Answer: ID 0001", "Answer: ID 9999999999",
        "", "no idea", '["One fact.", "Another fact."]', '["a", 1, {}]', "[[[[", '[""]', "[]",
    )  # fmt: skip

    def __init__(self) -> None:
        self.read = 0

    def write(self, instruction: str, most: int) -> str:
        self.read += len(instruction)
        return self.ANSWERS[zlib.crc32(instruction.encode()) % len(self.ANSWERS)]

    def weigh(self, instruction: str, begin: str, options: Sequence[str]) -> ScoreArray:
        self.read += len(instruction)
        seed = zlib.crc32(instruction.encode())
        weights = np.random.default_rng(seed).normal(-5, 2, len(options))
        weights[:: 2 + seed % 3] = (np.nan, -np.inf, -1.0)[seed % 3]
        return weights


class FakeEmbedder:
    """Unit vectors that a text's hash draws.

    Attributes:
        read: characters of texts.
    """

    def __init__(self) -> None:
        self.read = 0

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += sum(map(len, texts))
        seeds = [zlib.crc32(text.encode()) % 64 for text in texts]  # few: equal distances are tried
        vectors = np.stack([np.random.default_rng(seed).normal(size=4) for seed in seeds])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(unit, np.float32)


SCORES: dict[str, Choose] = {
    "first": lambda window: [-1.0, *[-9.0] * (len(window.ends) - 1)],
    "last": lambda window: [*[-9.0] * (len(window.ends) - 1), -1.0],
    "equal": lambda window: [-3.0] * len(window.ends),
    "nan": lambda window: [float("nan")] * len(window.ends),
    "-inf": lambda window: [float("-inf")] * len(window.ends),
    "half nan": lambda window: [
        float("nan") if k % 2 else -float(k) for k in range(len(window.ends))
    ],
    "random": _seeded,
}

FAMILY = "\U0001f468‍\U0001f469‍\U0001f467"
TEXTS: dict[str, str] = {
    "empty": "",
    "blank": " \n\t\r\n  ",
    "one letter": "x",
    "no newline at the end": "One. Two! Three? And a last one without an end",
    "CRLF": "Title\r\n\r\nA first line.\r\nA second one. And more.\r\n\r\nEnd.\r\n" * 9,
    "bare CR": "One.\rTwo.\r\rThree.\r" * 9,
    "tabs and NBSP": "A\tb.\tC d.\u00a0E f!\u00a0\u00a0G. " * 9,
    "leading white space": "\n\n   \t First. Second.  ",
    "joiners and emoji families": f"{FAMILY}{FAMILY} one. {FAMILY}! {'👍🏽' * 40} " * 4,
    "flags": "🇨🇦🇯🇵🇫🇷" * 60,
    "combining accents": "e\u0301a\u0300o\u0302" * 90 + ". " + "z\u0335\u0336\u0337\u0338" * 80,
    "right to left": "שלום עולם. מה שלומך? مرحبا بالعالم. كيف حالك؟ " * 9,
    "CJK": "今天天气很好。我们去公园吧！「好的」と彼は言った。" * 20,
    "CJK without marks": "天地玄黄宇宙洪荒日月盈昃辰宿列张" * 30,
    "a word of 200,000 characters": "x" * 200_000,
    "base64": "aGVsbG8gd29ybGQ" * 400 + "\n" + "Zm9vYmFy" * 200,
    "YAML": "".join(f"key{k}:\n  - value {k}\n  - other\n" for k in range(1_700)),
    "equal sentences": "Yes. " * 400,
    "Markdown": "# Head\ntext\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Sub\nMore."
    * 8,
    "controls": "a\x00b\x0bc\x0cd\x1ce\x85f\u2028g\u2029h. i\ufeff. " * 9,
    "astral": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢. 𐍈𐌰. " * 30,
}
