"""Loading a model folder's tokenizer, Meta's original ``tokenizer.model`` among them."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING

from lgmgc.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

# Meta's llama3 repository, llama/tokenizer.py: ids follow the ranks in the file, in this order.
_LLAMA_3_SPECIALS = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    *(f"<|reserved_special_token_{k}|>" for k in range(4)),
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|reserved_special_token_4|>",
    "<|eot_id|>",
    *(f"<|reserved_special_token_{k}|>" for k in range(5, 251)),
)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """A tokenizer with a Rust half, from a local folder.

    Raises:
        ModelError: there is none, or transformers cannot read it.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    original = folder / "tokenizer.model"
    if not (folder / "tokenizer.json").is_file() and _is_tiktoken(original):
        return _from_tiktoken(original)
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:
        # transformers raises many kinds, and long ones, for a missing or damaged tokenizer.
        reason = " ".join(str(error).split())[:150]
        raise ModelError(f"{folder} has no tokenizer that can be read ({reason})") from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise ModelError(
            f"{folder} has only a Python tokenizer; save it as tokenizer.json with transformers"
        )
    return tokenizer


def _is_tiktoken(path: Path) -> bool:
    """Whether a file has tiktoken's lines, ``base64 rank``, rather than SentencePiece's bytes."""
    try:
        with path.open("rb") as stream:
            token, rank = stream.readline(200).split()
        base64.b64decode(token, validate=True)
        return rank.isdigit()
    except (OSError, ValueError, binascii.Error):
        return False


def _from_tiktoken(path: Path) -> PreTrainedTokenizerFast:
    from tokenizers.processors import ByteLevel, Sequence, TemplateProcessing
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    converter = TikTokenConverter(str(path), extra_special_tokens=list(_LLAMA_3_SPECIALS))
    tokenizer = converter.converted()
    begin, end = _LLAMA_3_SPECIALS[:2]
    tokenizer.post_processor = Sequence(
        [
            ByteLevel(trim_offsets=False),
            TemplateProcessing(
                single=f"{begin} $A", special_tokens=[(begin, tokenizer.token_to_id(begin))]
            ),
        ]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token=end)
