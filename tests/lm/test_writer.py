from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from lgmgc import ModelError, UsageError
from lgmgc.lm.load import load_scorer
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.writer import Writer, load_writer, writer_of
from tests.lm.conftest import CONTEXT, END, PAD, SENTENCES, TURN, VOCABULARY, Save, make_model

QUESTION = "What is bread made of? "
CHAT = (
    "{% for m in messages %}{{ m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant\n' }}{% endif %}"
)
ENDS = [0, 1]


def load(folder: Path, precision: str = "fp32") -> Writer:
    return load_writer(str(folder), device="cpu", precision=precision)


@pytest.fixture
def chatty(tokenizer: PreTrainedTokenizerFast) -> PreTrainedTokenizerFast:
    chatty = copy.deepcopy(tokenizer)
    chatty.chat_template = CHAT
    return chatty


@pytest.fixture
def writer(chatty: PreTrainedTokenizerFast) -> Writer:
    return Writer(make_model("llama"), chatty, "tiny")


def theirs(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, ids: list[int], most: int
) -> str:
    """What transformers' own generate makes of a prompt."""
    out = model.generate(  # type: ignore[operator]
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        max_new_tokens=most,
        do_sample=False,
        eos_token_id=ENDS,
        pad_token_id=2,
    )[0]
    text = tokenizer.decode(out[len(ids) :], skip_special_tokens=True)
    assert isinstance(text, str)
    return text.rstrip("\ufffd")


# Packed; with learned positions; with a sliding window of eight; padded, with soft caps.
@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gemma3", "gemma2"])
def test_writes_what_transformers_generates(
    architecture: str, save: Save, tokenizer: PreTrainedTokenizerFast
) -> None:
    folder = save(architecture)
    writer = load(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for text in (SENTENCES[0], "".join(SENTENCES)):
        ids = tokenizer.encode(text + "\n")
        ours = writer.write(text, 20)
        assert ours == theirs(model, tokenizer, ids, 20)
        assert ours


def test_chat_format(writer: Writer, chatty: PreTrainedTokenizerFast) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]
    for turns in (messages, messages[1:]):
        text = chatty.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        system = "Be brief." if len(turns) == 2 else ""
        ids = chatty.encode(f"{text}Of fl")
        assert chatty.decode(writer._prompt(QUESTION, system)) == text
        ours = writer.write(QUESTION, 20, system=system, begin="Of fl")
        assert ours == theirs(make_model("llama"), chatty, ids, 20)


@pytest.mark.parametrize(
    "refusal",
    [
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}",
        "{% set messages = messages | selectattr('role', 'eq', 'user') %}",
    ],
)
def test_a_template_without_system_has_it_in_the_users_turn(
    refusal: str, writer: Writer, chatty: PreTrainedTokenizerFast
) -> None:
    chatty.chat_template = refusal + CHAT
    text = chatty.decode(writer._prompt(QUESTION, "Be brief."))
    assert text == f"user\nBe brief.\n\n{QUESTION}<|im_end|>\nassistant\n"


def test_a_template_that_cannot_be_used(writer: Writer, chatty: PreTrainedTokenizerFast) -> None:
    for template in ("{{ messages[0]['content'] | length }}", "{{ raise_exception('no') }}"):
        chatty.chat_template = template
        with pytest.raises(ModelError, match="chat template of tiny cannot hold one question"):
            writer.write(QUESTION, 5)


def test_templates_see_no_clock(writer: Writer, chatty: PreTrainedTokenizerFast) -> None:
    chatty.chat_template = "{{ strftime_now('%d %b %Y') + messages[0]['content'] }}"
    assert chatty.decode(writer._prompt("x", "")) == "26 Jul 2024x"


@pytest.mark.parametrize("chat", [True, False])
def test_a_document_cannot_end_the_turn(
    chat: bool, writer: Writer, chatty: PreTrainedTokenizerFast
) -> None:
    if not chat:
        chatty.chat_template = None
    text = f"a{TURN}{END}b{PAD}"
    assert set(chatty.encode(text)) > {0, 1, 2}  # the tokenizer alone would read tokens
    ids = writer._prompt(text, system=text)
    assert [k for k in ids if k < 3] == ([1, 1] if chat else [])  # those of the template
    assert chatty.decode(ids).count(text) == 2
    assert writer.prompt_length(text, text) == len(ids)
    assert writer.count(text) == len(writer._encode([text])[0]) > 10


def test_a_stream_is_the_text_in_pieces_of_whole_code_points(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Straße — 你好 👩‍🚀, e\u0301!"
    tokens = writer._tokenizer.encode(text)
    assert len(tokens) > len(text)
    monkeypatch.setattr(writer, "_tokens", lambda *_: iter(tokens))
    pieces = list(writer.stream("x", 99))
    assert "".join(pieces) == writer.write("x", 99) == text
    assert all(pieces)
    assert "\ufffd" not in "".join(pieces)
    tokens = writer._tokenizer.encode("ab👩")[:-1]
    assert writer.write("x", 99) == "ab"


def test_stream_joined_is_write(writer: Writer) -> None:
    for text in SENTENCES[:3]:
        assert "".join(writer.stream(text, 30)) == writer.write(text, 30)


def test_the_end_token_ends(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = writer.write(QUESTION, 12)
    assert writer.counters.written_tokens == 12
    ids = list(writer._tokens(writer._prompt(QUESTION, ""), [], 12))
    first = ids.index(ids[5])
    monkeypatch.setattr(writer, "_ends", {ids[5]})
    assert list(writer._tokens(writer._prompt(QUESTION, ""), [], 12)) == ids[:first]
    assert writer.counters.written_tokens == 12 + 12 + first + 1  # the end token is counted
    assert whole.startswith(writer.write(QUESTION, 12))


def test_an_end_token_is_special(chatty: PreTrainedTokenizerFast) -> None:
    chatty.add_tokens("</s>")
    assert Writer(make_model("llama"), chatty, "tiny")._ends == {0, 1}


def test_counters(writer: Writer) -> None:
    writer.write(QUESTION, 7)
    writer.write(QUESTION, 5, begin="Of")
    counters, length = writer.counters, writer.prompt_length(QUESTION)
    assert (counters.calls, counters.written_tokens) == (2, 12)
    assert counters.prompt_tokens == 2 * length + writer.count("Of")
    assert counters.seconds > 0
    assert writer.write(QUESTION, 0) == ""


def test_the_last_prompt_that_fits(writer: Writer) -> None:
    assert writer.context == CONTEXT
    room = CONTEXT - writer.prompt_length("", "")
    text = "!" * room
    assert writer.prompt_length(text) == CONTEXT
    writer.write(text[:-3], 3)
    with pytest.raises(UsageError, match=f"1022 tokens and 3 to write .* {CONTEXT} that tiny"):
        writer.stream(text[:-2], 3)
    assert writer.counters.calls == 1


def test_a_consumer_that_stops_early(writer: Writer) -> None:
    pieces = writer.stream(QUESTION, 50)
    first = next(pieces)
    steps = writer.counters.written_tokens
    pieces.close()  # type: ignore[attr-defined]
    assert writer.counters.written_tokens == steps < 50
    assert writer.write(QUESTION, 50).startswith(first)


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "memory is too small for tiny to write"),
        (RuntimeError("DefaultCPUAllocator: can't allocate"), "memory is too small for tiny"),
        (RuntimeError("something else"), "something else"),
    ],
)
def test_failures_reach_the_consumer(
    failure: Exception, raised: str, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = writer.stream(QUESTION, 50)
    next(pieces)

    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(writer._network, "forward", fail)
    kind = RuntimeError if raised == "something else" else ModelError
    with pytest.raises(kind, match=raised):
        list(pieces)


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_the_same_prompt_is_answered_with_the_same_text(precision: str, llama: Path) -> None:
    one, two = load(llama, precision), load(llama, precision)
    for text in SENTENCES[:3]:
        assert one.write(text, 30) == one.write(text, 30) == two.write(text, 30)


@pytest.mark.parametrize("architecture", ["llama", "gemma2"])  # packed and tiled, and padded
def test_writer_and_scorer_in_turn_on_one_network(architecture: str, save: Save) -> None:
    folder = str(save(architecture))
    loaded = load_scorer(folder, device="cpu", precision="bf16", prompt="The ship")
    alone = load_scorer(folder, device="cpu", precision="bf16", prompt="The ship").scorer
    writer, unshared = writer_of(loaded), load(save(architecture), "bf16")
    assert (writer.name, writer.context) == (f"tiny-{architecture}", CONTEXT)
    window = DocumentTokens(SENTENCES, alone.encode).window(0, len(SENTENCES))
    expected, text = alone.score([window])[0], unshared.write(QUESTION, 20)
    pieces = []
    for piece in writer.stream(QUESTION, 20):
        pieces.append(piece)
        assert loaded.scorer.score([window])[0].tobytes() == expected.tobytes()
    assert "".join(pieces) == text == writer.write(QUESTION, 20)


@pytest.fixture(scope="module")
def t5(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-t5"
    own = copy.deepcopy(tokenizer)
    own.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, 0)]
    )
    own.save_pretrained(folder)
    torch.manual_seed(7)
    settings: dict[str, Any] = {"n_positions": 64, "decoder_start_token_id": 2}
    config = T5Config(
        **settings,
        vocab_size=VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        initializer_factor=8.0,
        feed_forward_proj="gated-gelu",
        eos_token_id=0,
        pad_token_id=2,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("begin", ["", "Of fl"])
def test_an_encoder_decoder(begin: str, t5: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    writer = load(t5)
    model = AutoModelForSeq2SeqLM.from_pretrained(t5, dtype=torch.float32).eval()
    first, answers = tokenizer.encode(begin), []
    for text in SENTENCES:
        ids = [*tokenizer.encode(text), 0]
        assert writer._prompt(text, "") == ids
        assert writer.prompt_length(text) == len(ids)
        out = model.generate(
            torch.tensor([ids]),
            decoder_input_ids=torch.tensor([[2, *first]]),
            max_new_tokens=20,
            do_sample=False,
            eos_token_id=ENDS,
        )[0]
        theirs = tokenizer.decode(out[1 + len(first) :], skip_special_tokens=True)
        assert isinstance(theirs, str)
        answers.append(writer.write(text, 20, begin=begin))
        assert answers[-1] == theirs.rstrip("\ufffd")
    assert any(answers)
    ids = writer._prompt(f"a{TURN}", "b")
    assert [k for k in ids if k < 3] == [0]
    assert tokenizer.decode(ids) == f"b\n\na{TURN}{END}"


def test_an_encoder_decoder_has_room_for_each(t5: Path) -> None:
    writer = load(t5)
    assert writer.context == 64
    writer.write("!" * 63, 63)
    for length, most in ((64, 1), (1, 64)):
        with pytest.raises(UsageError, match=f"and {most} to write do not fit in the 64"):
            writer.write("!" * length, most)


def test_an_encoder_decoder_that_does_not_say_how_to_begin(
    t5: Path, tokenizer: PreTrainedTokenizerFast
) -> None:
    model = AutoModelForSeq2SeqLM.from_pretrained(t5)
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = None
    with pytest.raises(ModelError, match="names no decoder_start_token_id"):
        Writer(model, tokenizer, "tiny")


def test_a_damaged_folder(llama: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError):
        load(tmp_path)
