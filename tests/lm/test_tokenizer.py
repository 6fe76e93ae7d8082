import base64
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from lgmgc.errors import ModelError
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.prompt import prefix_ids
from lgmgc.lm.tokenizer import load_tokenizer
from tests.lm.conftest import END, TURN

MERGES = [b"he", b"ll", b"hell", b" w", b"or"]  # ids 256 to 260


@pytest.fixture
def meta(tmp_path: Path) -> Path:
    """A folder with a ``tokenizer.model`` as Meta writes it: base64 of a token, and its rank."""
    tokens = [bytes([k]) for k in range(256)] + MERGES
    lines = [f"{base64.b64encode(token).decode()} {k}" for k, token in enumerate(tokens)]
    (tmp_path / "tokenizer.model").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_metas_tokenizer_by_hand(meta: Path) -> None:
    tokenizer = load_tokenizer(meta)
    assert tokenizer.encode("hello world", add_special_tokens=False) == [
        258, ord("o"), 259, 260, ord("l"), ord("d"),
    ]  # fmt: skip
    assert tokenizer.encode("é", add_special_tokens=False) == [0xC3, 0xA9]
    assert tokenizer.decode([258, ord("o"), 259]) == "hello w"


def test_metas_special_tokens_follow_the_ranks(meta: Path) -> None:
    tokenizer = load_tokenizer(meta)
    # Offsets of Llama 3: 128000, 128001, 128006, 128007, 128009 behind 128000 ranks; 256 in all.
    expected = {
        "<|begin_of_text|>": 0,
        "<|end_of_text|>": 1,
        "<|reserved_special_token_0|>": 2,
        "<|start_header_id|>": 6,
        "<|end_header_id|>": 7,
        "<|reserved_special_token_4|>": 8,
        "<|eot_id|>": 9,
        "<|reserved_special_token_5|>": 10,
        "<|reserved_special_token_250|>": 255,
    }
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in expected}
    assert ids == {token: 261 + offset for token, offset in expected.items()}
    assert len(tokenizer) == 261 + 256
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (261, 262)


def test_metas_tokenizer_puts_the_begin_token_in_front(meta: Path) -> None:
    tokenizer = load_tokenizer(meta)
    assert tokenizer.encode("he") == [261, 256]
    assert prefix_ids("", "raw", tokenizer) == [261]


def test_a_document_cannot_say_that_it_ends(meta: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    for special, loaded in (("<|eot_id|>", load_tokenizer(meta)), (END, tokenizer)):
        special_id = loaded.convert_tokens_to_ids(special)
        text = f"hello{special} world"
        assert special_id in loaded.encode(text)
        encode = FastEncoder(loaded.backend_tokenizer)
        [ids] = encode([text])
        assert special_id not in ids
        assert loaded.decode(ids) == text
        # The caller's tokenizer keeps its settings.
        assert special_id in loaded.encode(text)


def test_the_encoder_neither_pads_nor_truncates(tokenizer: PreTrainedTokenizerFast) -> None:
    copied = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    copied.enable_padding()
    copied.enable_truncation(2)
    encode = FastEncoder(copied)
    assert [len(ids) for ids in encode(["", "x", "xyxyxyxy"])] == [0, 1, 8]
    assert encode([]) == []


def test_the_space_that_sentencepiece_adds_is_not_doubled() -> None:
    vocabulary = {"<unk>": 0, "▁a": 1, "▁": 2, "a": 3, "b": 4, "▁b": 5}
    sentencepiece = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    sentencepiece.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    encode = FastEncoder(sentencepiece)
    assert encode(["a", " a", "a b", " b"]) == [[1], [1], [1, 5], [5]]


def test_a_saved_tokenizer_loads(llama: Path) -> None:
    tokenizer = load_tokenizer(llama)
    assert tokenizer.convert_tokens_to_ids(TURN) == 1
    assert len(tokenizer) == 320


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as error:
        load_tokenizer(tmp_path)
    assert str(error.value).startswith(f"{tmp_path} has no tokenizer that can be read")


def test_a_damaged_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}'
    )
    with pytest.raises(ModelError, match="has no tokenizer that can be read"):
        load_tokenizer(tmp_path)
