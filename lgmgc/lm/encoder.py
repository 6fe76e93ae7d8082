"""Tokenising texts by themselves, without special tokens."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer


class FastEncoder:
    """A tokenizer's Rust half, many texts at once.

    What looks like a special token in a document (``<|endoftext|>``) is tokenised as the text that
    it is: a document must not be able to say that it ends.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Copy a tokenizer, so that the caller's keeps its settings."""
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        tokens = self._tokenizer.encode("a", add_special_tokens=False).tokens
        # SentencePiece in the manner of Llama 2 puts a space before every text by itself.
        self._adds_space = tokens[0].startswith("▁")

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        if self._adds_space:
            texts = [text.removeprefix(" ") for text in texts]
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]
