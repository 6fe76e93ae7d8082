"""ρ, the prompt before the text, as token ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lgmgc.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TEMPLATES = ("raw", "chat")


def prefix_ids(prompt: str, template: str, tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """The ids that stand before every window.

    Args:
        prompt: ρ; may be empty.
        template: ``raw``: the document-begin token, where the tokenizer sets one, then the prompt;
            the text follows at once. ``chat``: the prompt as the user's turn in the model's own
            chat format, the text as the beginning of the assistant's.
        tokenizer: the model's.

    Raises:
        ModelError: an unknown template, or a model without a chat format.
    """
    if template not in TEMPLATES:
        raise ModelError(f"template {template!r} is none of {', '.join(TEMPLATES)}")
    if template == "chat":
        if not tokenizer.chat_template:
            raise ModelError("this model has no chat template; choose --template raw")
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
        )
        return list(tokenizer.encode(text, add_special_tokens=False))
    bare = tokenizer.encode("a", add_special_tokens=False)
    dressed = tokenizer.encode("a")
    begin = dressed[: next(k for k in range(len(dressed)) if dressed[k : k + len(bare)] == bare)]
    return [*begin, *tokenizer.encode(prompt, add_special_tokens=False)]
