import pytest
from transformers import PreTrainedTokenizerFast

from lgmgc.errors import ModelError
from lgmgc.lm.eos import resolve_eos
from tests.lm.conftest import END, TURN


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ([END], [0]),
        ([TURN, END], [0, 1]),
        (["1", END, TURN], [0, 1]),
        (["319"], [319]),
        (["."], None),
    ],
)
def test_what_is_asked_for_rules(
    asked: list[str], ids: list[int] | None, tokenizer: PreTrainedTokenizerFast
) -> None:
    expected = ids or [tokenizer.get_vocab()["."]]
    for template in ("raw", "chat"):
        assert resolve_eos(asked, tokenizer, [2], template) == expected


@pytest.mark.parametrize("token", ["320", "1000000"])
def test_an_id_outside_the_vocabulary(token: str, tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(ModelError, match=f"{token} is outside the vocabulary of 320 tokens"):
        resolve_eos([token], tokenizer, [], "raw")


@pytest.mark.parametrize("token", ["<|end|>", "zebra", "", " ", "-1"])
def test_a_token_that_is_none(token: str, tokenizer: PreTrainedTokenizerFast) -> None:
    with pytest.raises(ModelError, match="is not one token of this model"):
        resolve_eos([END, token], tokenizer, [], "raw")


@pytest.mark.parametrize(
    ("configured", "template", "ids"),
    [
        ([0], "raw", [0]),
        ([0, 1], "raw", [0]),  # behind raw text only what ends a document
        ([1], "raw", [0]),  # the vocabulary has one, although the configuration names a turn's end
        ([0, 1], "chat", [1]),
        ([1, 5], "chat", [1, 5]),
        ([0], "chat", [0]),  # nothing else is known
    ],
)
def test_the_default_fits_the_template(
    configured: list[int], template: str, ids: list[int], tokenizer: PreTrainedTokenizerFast
) -> None:
    assert resolve_eos([], tokenizer, configured, template) == ids


def test_a_model_without_any() -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    bare = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel({"a": 0, "b": 1}, unk_token="a"))
    )
    assert resolve_eos([], bare, [1], "raw") == [1]
    with pytest.raises(ModelError, match="give one with --eos"):
        resolve_eos([], bare, [], "raw")
