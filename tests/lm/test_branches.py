import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.lm.branches import branch_out
from tests.lm.conftest import make_model
from tests.lm.test_scorer import PREFIX, make_scorer


def test_by_hand() -> None:
    trunk, branches, steps = branch_out([[7, 1, 2, 3], [7, 1, 4, 5], [7, 1, 4, 6], [7, 1, 8]])
    assert trunk == [7, 1]
    assert branches == [[2], [4]]
    assert steps[0] == [(-1, -1, 2), (0, 0, 3)]
    assert steps[2] == [(-1, -1, 4), (1, 0, 6)]
    assert steps[3] == [(-1, -1, 8)]


def test_a_single_option_keeps_its_tokens() -> None:
    assert branch_out([[3, 4]]) == ([], [[3]], [[(-1, -1, 3), (0, 0, 4)]])


def test_a_branch_inside_another_is_not_read_twice() -> None:
    _, branches, steps = branch_out([[1, 2], [1, 3, 4], [1, 3, 5], [2, 1]])
    assert branches == [[1, 3], [2]]
    assert steps[0] == [(-1, -1, 1), (0, 0, 2)]


@given(st.sets(st.text("ab", min_size=3, max_size=3), min_size=1).map(sorted))
def test_every_option_can_be_spelt(words: list[str]) -> None:
    options = [list(map(ord, word)) for word in words]
    trunk, branches, steps = branch_out(options)
    for option, walked in zip(options, steps, strict=True):
        assert [*trunk, *(step.token for step in walked)] == option
        for k, step in enumerate(walked):
            assert step.branch < 0 or branches[step.branch][: step.place + 1] == [
                before.token for before in walked[:k]
            ]


@pytest.mark.parametrize(
    ("architecture", "pack"),
    # The attention of gemma2 cannot be packed.
    [(name, True) for name in ("llama", "gemma3", "gpt2")]
    + [(name, False) for name in ("llama", "gemma3", "gpt2", "gemma2")],
)
def test_weights_equal_those_of_one_pass_an_option(architecture: str, pack: bool) -> None:
    model = make_model(architecture)
    prompt = np.random.default_rng(0).integers(2, 90, 30).tolist()
    options = [[9, 3, 4, 5], [9, 3, 4, 6], [9, 7, 4, 5], [9, 3, 8, 5]]
    expected = []
    with torch.inference_mode():
        for option in options:
            log_p = model(torch.tensor([[*prompt, *option]])).logits[0].log_softmax(-1)
            places = range(len(prompt) - 1, len(prompt) + len(option) - 1)
            # What all options share is certain: it counts for none of them.
            expected.append(
                sum(log_p[p, t].item() for p, t in list(zip(places, option, strict=True))[1:])
            )
    scorer = make_scorer(make_model(architecture), pack=pack, prefix=PREFIX)
    assert scorer.weigh(prompt, options) == pytest.approx(expected, abs=1e-4)
    assert scorer.counters.calls == 1
    if pack:
        assert scorer.counters.tokens == 30 + 1 + 3 * 2  # the trunk; 3 4, 3 8, 7 4
