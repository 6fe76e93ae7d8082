import copy

import pytest
from tokenizers import processors
from transformers import PreTrainedTokenizerFast

from lgmgc.errors import ModelError
from lgmgc.lm.prompt import prefix_ids
from tests.lm.conftest import END, TURN

CHAT = (
    "{% for m in messages %}" + TURN + "{{ m['role'] }}: {{ m['content'] }}" + TURN + "{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def with_begin(tokenizer: PreTrainedTokenizerFast, single: str) -> PreTrainedTokenizerFast:
    """A copy that puts END or TURN around a text."""
    dressed = copy.deepcopy(tokenizer)
    dressed.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[(END, 0), (TURN, 1)]
    )
    return dressed


def test_raw_without_a_begin_token(tokenizer: PreTrainedTokenizerFast) -> None:
    assert prefix_ids("", "raw", tokenizer) == []
    plain = tokenizer.encode("A slow dough.", add_special_tokens=False)
    assert prefix_ids("A slow dough.", "raw", tokenizer) == plain


@pytest.mark.parametrize(
    ("single", "begin"), [(f"{END} $A", [0]), (f"{END} {TURN} $A {END}", [0, 1]), (f"$A {END}", [])]
)
def test_raw_begins_as_the_tokenizer_does(
    single: str, begin: list[int], tokenizer: PreTrainedTokenizerFast
) -> None:
    dressed = with_begin(tokenizer, single)
    assert prefix_ids("", "raw", dressed) == begin
    plain = tokenizer.encode("The ship", add_special_tokens=False)
    assert prefix_ids("The ship", "raw", dressed) == begin + plain


def test_chat_ends_where_the_assistants_turn_begins(tokenizer: PreTrainedTokenizerFast) -> None:
    chat = with_begin(tokenizer, f"{END} $A")
    chat.chat_template = CHAT
    expected = [
        1, *tokenizer.encode("user: Read this."), 1, *tokenizer.encode("assistant: ")
    ]  # fmt: skip
    # The template writes every special token itself; none is put in front again.
    assert prefix_ids("Read this.", "chat", chat) == expected


def test_chat_without_a_template_is_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(ModelError, match="no chat template; choose --template raw"):
        prefix_ids("x", "chat", tokenizer)


def test_an_unknown_template_is_refused(tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(ModelError, match="template 'poem' is none of raw, chat"):
        prefix_ids("x", "poem", tokenizer)
