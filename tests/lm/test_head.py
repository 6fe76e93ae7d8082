import pytest
import torch

import lgmgc.lm.head as module
from lgmgc.errors import ModelError
from lgmgc.lm.head import Head

HIDDEN, VOCABULARY = 16, 50


def layer_of(bias: bool = False, dtype: torch.dtype = torch.float32) -> torch.nn.Linear:
    torch.manual_seed(1)
    return torch.nn.Linear(HIDDEN, VOCABULARY, bias=bias).to(dtype)


def rows_of(count: int) -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randn(count, HIDDEN) * 5


def by_torch(
    layer: torch.nn.Linear, rows: torch.Tensor, eos: list[int], scale: float, cap: float
) -> torch.Tensor:
    with torch.inference_mode():
        bias = layer.bias if layer.bias is None else layer.bias.double()
        logits = scale * torch.nn.functional.linear(rows.double(), layer.weight.double(), bias)
        if cap:
            logits = cap * torch.tanh(logits / cap)
        return logits.log_softmax(-1)[:, eos].exp().sum(-1).log().float()


@pytest.mark.parametrize("eos", [[3], [0, 7, 49], list(range(VOCABULARY))])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("scale", "cap"), [(1.0, 0.0), (0.25, 0.0), (1.0, 3.0), (2.0, 5.0)])
def test_equals_the_log_softmax(eos: list[int], bias: bool, scale: float, cap: float) -> None:
    layer = layer_of(bias)
    rows = rows_of(5)
    scores = Head(layer, eos, scale=scale, cap=cap)(rows)
    assert scores.dtype == torch.float32
    expected = by_torch(layer, rows, eos, scale, cap)
    torch.testing.assert_close(scores, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
def test_any_number_of_rows(count: int) -> None:
    layer = layer_of()
    rows = rows_of(count)
    scores = Head(layer, [3])(rows)
    assert scores.shape == (count,)
    torch.testing.assert_close(scores, by_torch(layer, rows, [3], 1.0, 0.0), rtol=1e-5, atol=1e-5)


def test_a_row_is_the_same_bits_whatever_stands_beside_it() -> None:
    head = Head(layer_of(), [3, 4])
    rows = rows_of(200)
    whole = head(rows)
    assert torch.equal(head(rows[:1]), whole[:1])
    assert torch.equal(head(rows[70:77]), whole[70:77])


def test_the_vocabulary_is_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    layer = layer_of(bias=True)
    rows = rows_of(9)
    torch.testing.assert_close(
        Head(layer, [3, 48])(rows), by_torch(layer, rows, [3, 48], 1.0, 0.0), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("keep", [0, 2**30])
def test_weights_in_bf16_are_widened_not_the_logits_rounded(
    keep: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEEP", keep)
    layer = layer_of(dtype=torch.bfloat16)
    rows = rows_of(9).to(torch.bfloat16)
    torch.testing.assert_close(
        Head(layer, [3])(rows), by_torch(layer, rows, [3], 1.0, 0.0), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_a_device_may_multiply_bf16_into_float32_itself(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def product(left: torch.Tensor, right: torch.Tensor, *, out_dtype: torch.dtype) -> torch.Tensor:
        calls.append((left.dtype, right.dtype))
        return (left.double() @ right.double()).to(out_dtype)  # what only CUDA has

    monkeypatch.setattr(module, "_multiplies_into_float32", lambda weight: True)
    monkeypatch.setattr(torch, "mm", product)
    layer = layer_of(bias=True, dtype=torch.bfloat16)
    rows = rows_of(9).to(torch.bfloat16)
    head = Head(layer, [3, 4])
    tokens = torch.arange(9)
    expected = by_torch(layer, rows, [3, 4], 1.0, 0.0)
    torch.testing.assert_close(head(rows.to(dtype)), expected, rtol=1e-5, atol=1e-5)
    both = head.log_p(rows.to(dtype), tokens)
    torch.testing.assert_close(both[:, 0], expected, rtol=1e-5, atol=1e-5)
    one = by_torch(layer, rows[2:3], [2], 1.0, 0.0)
    torch.testing.assert_close(both[2:3, 1], one, rtol=1e-5, atol=1e-5)
    # States in float32 are not rounded to the weights' type.
    assert set(calls) == ({(torch.bfloat16, torch.bfloat16)} if dtype == torch.bfloat16 else set())


def test_by_hand() -> None:
    # Logits 0, ln 2, ln 5: probabilities 1/8, 2/8, 5/8.
    layer = torch.nn.Linear(1, 3, bias=False)
    layer.weight.data = torch.tensor([[1.0], [2.0], [5.0]]).log()
    one = torch.ones(1, 1)
    assert Head(layer, [1])(one).exp().item() == pytest.approx(2 / 8)
    assert Head(layer, [0, 2])(one).exp().item() == pytest.approx(6 / 8)
    assert Head(layer, [0, 1, 2])(one).item() == pytest.approx(0, abs=1e-6)


def test_large_logits_do_not_overflow() -> None:
    layer = torch.nn.Linear(1, 2, bias=False)
    layer.weight.data = torch.tensor([[0.0], [1_000.0]])
    assert Head(layer, [0])(torch.ones(1, 1)).item() == -1_000.0
    assert Head(layer, [1])(torch.ones(1, 1)).item() == 0.0


def test_an_end_that_the_layer_has_no_row_for_is_refused() -> None:
    # As where tokens were added to a tokenizer and not to the model.
    with pytest.raises(ModelError, match=r"\[EOS\] 50 is outside the model's 50 output tokens"):
        Head(layer_of(), [3, VOCABULARY])
