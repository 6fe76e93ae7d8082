"""The real model's short answers."""

from __future__ import annotations

from lgmgc.lm.writer import load_writer, writer_of
from tests.real.conftest import MODEL, Load


def test_what_is_written_is_right_and_always_the_same(load: Load) -> None:
    loaded = load(precision="bf16")
    writer = writer_of(loaded)
    question = "What is the capital of France?"
    answer = writer.write(question, 20)
    assert "Paris" in answer
    assert "<|" not in answer
    assert writer.counters.written_tokens < 20  # it ended its turn
    assert "".join(writer.stream(question, 20)) == answer
    assert load_writer(MODEL, precision="bf16").write(question, 20) == answer
    [ids] = [
        loaded.tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], add_generation_prompt=True, return_dict=False
        )
    ]
    assert writer._prompt(question, "") == ids


def test_begin_binds_the_answer(load: Load) -> None:
    writer = writer_of(load(precision="bf16"))
    text = "ID 0: Dogs bark.\nID 1: Cats purr.\nID 2: Tax is due.\nWhere does the topic change?"
    answer = writer.write(text, 3, system="Answer with an ID.", begin="Answer: ID")
    assert answer.strip()[:1].isdigit()
