from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from lgmgc.lm.attention import NAME
from lgmgc.lm.check import can_pack, check_head
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.head import Head
from lgmgc.lm.scorer import Scorer
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import OutOfMemoryError, ScoreArray, TokenWindow
from tests.lm.conftest import CONTEXT, SENTENCES, make_model

PREFIX = [11, 40, 7, 300, 12]
LONGER_PREFIX = [*range(20, 41)]  # than the sliding windows of the tiny Gemmas, which are 8
EOS = [0, 1]


def no_text(texts: Sequence[str]) -> list[list[int]]:
    raise AssertionError("the scorer tokenises nothing by itself")


def make_scorer(
    model: PreTrainedModel, *, pack: bool, prefix: Sequence[int] = (), cache: bool = True
) -> Scorer:
    head = Head(model.get_output_embeddings(), EOS, cap=cap_of(model))
    if pack:
        assert can_pack(model)
    return Scorer(model, no_text, head, context=CONTEXT, prefix=prefix, prefix_cache=cache)


def cap_of(model: PreTrainedModel) -> float:
    return getattr(model.config, "final_logit_softcapping", None) or 0.0


def windows_of(*shapes: Sequence[int], seed: int = 0) -> list[TokenWindow]:
    """Windows of random ids; a shape gives the tokens of each sentence."""
    generator = np.random.default_rng(seed)
    return [
        TokenWindow(
            generator.integers(3, 320, sum(shape)).astype(np.int32),
            np.array(list(accumulate(shape)), np.int64),
        )
        for shape in shapes
    ]


@torch.inference_mode()
def one_pass_a_prefix(
    model: PreTrainedModel, window: TokenWindow, prefix: Sequence[int] = ()
) -> ScoreArray:
    """The paper's rule: the text up to a sentence's end, full logits at its last place."""
    scores = []
    for end in window.ends.tolist():
        ids = torch.tensor([[*prefix, *window.ids[:end].tolist()]])
        logits = model(ids).logits[0, -1].double()
        scores.append(logits.log_softmax(-1)[EOS].exp().sum().log().item())
    return np.array([scores])


SHAPES = ([9, 14, 3], [5], [30, 1, 1, 8], [2, 2, 2, 2, 2, 2], [40])


def close(ours: Sequence[ScoreArray], expected: Sequence[ScoreArray]) -> None:
    for one, other in zip(ours, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gemma3", "gpt2"])
@pytest.mark.parametrize("prefix", [[], [11], PREFIX, LONGER_PREFIX])
def test_scores_equal_one_full_pass_for_every_prefix(architecture: str, prefix: list[int]) -> None:
    model = make_model(architecture)
    windows = windows_of(*SHAPES)
    expected = [one_pass_a_prefix(model, window, prefix) for window in windows]
    spread = np.concatenate(expected, axis=1)
    assert spread.max() - spread.min() > 1  # the scores have something to differ by
    for cache in (True, False):
        close(
            make_scorer(make_model(architecture), pack=False, prefix=prefix, cache=cache).score(
                windows
            ),
            expected,
        )
        if architecture != "gemma2":
            packed = make_scorer(make_model(architecture), pack=True, prefix=prefix, cache=cache)
            assert packed.packed
            close(packed.score(windows), expected)


def test_which_architectures_can_be_packed() -> None:
    assert can_pack(make_model("llama"))
    assert can_pack(make_model("gemma3"))
    assert can_pack(make_model("gpt2"))
    assert not can_pack(make_model("gemma2"))  # soft caps on attention


@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gemma3", "gpt2"])
def test_the_heads_check_knows_these_architectures(architecture: str) -> None:
    model = make_model(architecture)
    check_head(model, Head(model.get_output_embeddings(), EOS, cap=cap_of(model)), EOS)


def test_the_heads_check_finds_a_missing_cap_or_scale() -> None:
    from lgmgc.errors import ModelError

    gemma2 = make_model("gemma2")
    llama = make_model("llama")
    for model, head in (
        (gemma2, Head(gemma2.get_output_embeddings(), EOS)),
        (llama, Head(llama.get_output_embeddings(), EOS, scale=0.5)),
        (llama, Head(llama.get_output_embeddings(), [5])),
    ):
        with pytest.raises(ModelError, match="treats its logits in a way"):
            check_head(model, head, EOS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("prefix", [[], PREFIX])
def test_packed_a_window_scores_the_same_bits_in_any_batch(
    dtype: torch.dtype, prefix: list[int]
) -> None:
    scorer = make_scorer(make_model("llama", dtype), pack=True, prefix=prefix)
    generator = np.random.default_rng(1)
    shapes = [generator.integers(1, 40, generator.integers(1, 6)).tolist() for _ in range(32)]
    windows = windows_of(*shapes)
    alone = [scores for window in windows for scores in scorer.score([window])]
    sixteen = [*scorer.score(windows[:16]), *scorer.score(windows[16:])]
    together = scorer.score(windows[::-1])[::-1]
    assert sum(map(sum, shapes)) > 3 * 512  # several tiles
    for one, two, three in zip(alone, sixteen, together, strict=True):
        assert one.tobytes() == two.tobytes() == three.tobytes()


def test_scores_do_not_change_from_call_to_call() -> None:
    for pack in (True, False):
        scorer = make_scorer(make_model("llama"), pack=pack, prefix=PREFIX)
        windows = windows_of(*SHAPES)
        first = scorer.score(windows)
        for one, two in zip(first, scorer.score(windows), strict=True):
            assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("prefix", [[], PREFIX])
def test_white_space_before_the_text_scores_nan(pack: bool, prefix: list[int]) -> None:
    model = make_model("llama")
    [window] = windows_of([4, 3])
    blank = TokenWindow(np.zeros(0, np.int32), np.zeros(2, np.int64))
    led = TokenWindow(window.ids, np.array([0, 4, 4, 7], np.int64))
    expected = one_pass_a_prefix(model, window, prefix)
    scorer = make_scorer(model, pack=pack, prefix=prefix)
    ours = scorer.score([blank, led, blank])
    assert [scores.shape for scores in ours] == [(1, 2), (1, 4), (1, 2)]
    assert np.isnan(ours[0]).all()
    assert np.isnan(ours[2]).all()
    close(ours[1:2], [np.array([[np.nan, expected[0, 0], expected[0, 0], expected[0, 1]]])])
    assert np.isnan(scorer.score([blank])[0]).all()


@pytest.mark.parametrize(
    ("pack", "cache", "tokens"),
    [
        # Two windows of 10 and 6 tokens behind 5 of ρ, scored twice.
        (True, True, 2 * 16 + 5),
        (True, False, 2 * 26),
        (False, True, 2 * 16 + 5),
        (False, False, 2 * 26),
    ],
)
def test_counters(pack: bool, cache: bool, tokens: int) -> None:
    scorer = make_scorer(make_model("llama"), pack=pack, prefix=PREFIX, cache=cache)
    padding = 2 * (scorer._grain - (16 if cache else 26) if pack else 4)
    rows: list[int] = []
    inner = scorer._head

    class Counting(Head):
        def __init__(self) -> None:
            pass

        def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
            rows.append(len(hidden))
            return inner(hidden)

    scorer._head = Counting()
    for _ in range(2):
        scorer.score(windows_of([4, 6], [1, 2, 3]))
    counters = scorer.counters
    assert (counters.windows, counters.rows, counters.tokens) == (4, 10, tokens)
    assert counters.padding == padding
    assert counters.calls == 2 + cache  # ρ once, where it is shared
    assert rows == [5, 5]  # one row of logits for each sentence end
    assert counters.seconds > 0


def test_the_context_is_what_the_prefix_leaves() -> None:
    scorer = make_scorer(make_model("llama"), pack=True, prefix=PREFIX)
    assert scorer.context == CONTEXT - 5
    [scores] = scorer.score(windows_of([CONTEXT - 5]))
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("pack", [True, False])
def test_running_out_of_memory_is_told_as_such(pack: bool) -> None:
    model = make_model("llama")
    scorer = make_scorer(model, pack=pack)
    windows = windows_of([3], [4])
    expected = scorer.score(windows)

    def greedy(module: torch.nn.Module, inputs: object) -> None:
        torch.empty(2**50, dtype=torch.uint8)  # a pebibyte: the allocator's own error

    hook = model.base_model.get_submodule("layers.1").register_forward_pre_hook(greedy)
    with pytest.raises(OutOfMemoryError):
        scorer.score(windows)
    hook.remove()
    for one, two in zip(scorer.score(windows), expected, strict=True):
        assert one.tobytes() == two.tobytes()

    def on_cuda(module: torch.nn.Module, inputs: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    hook = model.base_model.get_submodule("layers.1").register_forward_pre_hook(on_cuda)
    with pytest.raises(OutOfMemoryError):
        scorer.score(windows)
    hook.remove()


def test_other_errors_of_the_model_pass_through() -> None:
    scorer = make_scorer(make_model("llama"), pack=True)
    bad = TokenWindow(np.array([5, 400], np.int32), np.array([2], np.int64))
    with pytest.raises(IndexError):  # an id outside the vocabulary
        scorer.score([bad])


def test_a_text_through_tokenizer_and_model(tokenizer: PreTrainedTokenizerFast) -> None:
    model = make_model("llama")
    encode = FastEncoder(tokenizer.backend_tokenizer)
    window = DocumentTokens(SENTENCES, encode).window(1, 6)
    expected = []
    for k in range(2, 7):
        ids = tokenizer.encode("".join(SENTENCES[1:k]).rstrip(), return_tensors="pt")
        with torch.inference_mode():
            log_p = model(ids).logits[0, -1].log_softmax(-1)
        expected.append(log_p[EOS].exp().sum().log().item())
    close(make_scorer(model, pack=True).score([window]), [np.array([expected])])
    assert model.config._attn_implementation == NAME
