"""Which tokens [EOS] is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from lgmgc.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

DOCUMENT_ENDS = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<eos>",
    "</s>",
    "<|end▁of▁sentence|>",
)
"""What pretraining puts behind a document, in the model families that have one."""


def resolve_eos(
    asked: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    configured: Iterable[int],
    template: str,
) -> list[int]:
    """The token ids whose probabilities add up to p([EOS]).

    By default those that the model's configuration and tokenizer name, and of these the ones that
    fit ρ: behind raw text the tokens that end a document, in a chat turn the tokens that end a
    turn. (Both together are ruled by the turn end, whose probability on raw text is highest after
    the first sentences: scripts/results/eos_choice.md.)

    Args:
        asked: tokens as text, or ids in digits; empty for the default.
        tokenizer: the model's.
        configured: ids from the model's configuration.
        template: ``raw`` or ``chat``.

    Returns:
        Rising ids, at least one.

    Raises:
        ModelError: a token that is not one, an id outside the vocabulary, or no default.
    """
    if asked:
        return sorted({_one(token, tokenizer) for token in asked})
    documents = special_ids(DOCUMENT_ENDS, tokenizer)
    known = {k for k in (*configured, tokenizer.eos_token_id) if k is not None}
    fitting = documents if template == "raw" else known - documents
    chosen = fitting or known
    if not chosen:
        raise ModelError("the model names no [EOS] token; give one with --eos")
    return sorted(chosen)


def special_ids(texts: Collection[str], tokenizer: PreTrainedTokenizerFast) -> set[int]:
    """Those of the texts that are special tokens; Gemma's "</s>", say, is a tag of HTML."""
    tokens = tokenizer.added_tokens_decoder.items()
    return {k for k, token in tokens if token.special and token.content in texts}


def _one(token: str, tokenizer: PreTrainedTokenizerFast) -> int:
    size = len(tokenizer)
    if token.isdecimal():
        if int(token) >= size:
            raise ModelError(f"--eos {token} is outside the vocabulary of {size} tokens")
        return int(token)
    ids: list[int] = tokenizer.encode(token, add_special_tokens=False)
    if len(ids) != 1 or token not in tokenizer.get_vocab():
        raise ModelError(
            f"--eos {token!r} is not one token of this model but {len(ids)}; its special tokens "
            f"are {', '.join(tokenizer.all_special_tokens[:8])}"
        )
    return ids[0]
