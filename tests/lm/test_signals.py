"""The signals of a window, by hand and against full logits of a tiny model."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lgmgc.lm.signals import signals_of, spans_of_sentences, tokens_read
from lgmgc.lm.tokens import AHEAD, FIRST, DocumentTokens
from lgmgc.lm.topic import shift_between, topic_shift
from lgmgc.lm.windows import TokenWindow
from tests.lm.conftest import make_model
from tests.lm.test_scorer import PREFIX, make_scorer

NAN = float("nan")


def window(*signals: str) -> TokenWindow:
    """Sentences of 2, 3, 0 (blank) and 1 tokens, and two tokens of the next one."""
    ends = np.array([2, 5, 5, 6], np.int64)
    return TokenWindow(np.arange(8, dtype=np.int32), ends, signals)  # type: ignore[arg-type]


def test_which_tokens_are_read() -> None:
    assert tokens_read(window("eos")).tolist() == []
    assert tokens_read(window("loss")).tolist() == [1, 2, 3, 4, 5]
    # What follows the sentences: the second, the fourth (the third is blank), the next one.
    assert tokens_read(window("surprise")).tolist() == [2, 3, 4, 5, 6, 7]
    assert tokens_read(window("topic", "eos")).tolist() == []


def test_signals_by_hand() -> None:
    eos = np.array([-1.0, -2.0, -2.0, -3.0])
    log_p = -np.array([NAN, 1.0, 2.0, 4.0, 6.0, 5.0, 7.0, 9.0])
    got = signals_of(window("loss", "eos", "surprise"), eos, log_p, None)
    assert got[0].tolist()[:2] == [1.0, 4.0]  # the first token has nothing before it
    assert np.isnan(got[0, 2])
    assert got[0, 3] == 5.0
    assert got[1].tolist() == eos.tolist()
    # After the first: (2 + 4 + 6) / 3; after the second and the blank one: 5; at the end: 8.
    assert got[2].tolist() == [4.0, 5.0, 5.0, 8.0]


def test_eos_before_any_text_and_surprise_behind_the_last() -> None:
    blank = TokenWindow(np.zeros(0, np.int32), np.zeros(2, np.int64), ("eos", "surprise", "loss"))
    assert np.isnan(signals_of(blank, np.zeros(2), np.zeros(0), None)).all()
    whole = TokenWindow(np.arange(4, dtype=np.int32), np.array([2, 4]), ("surprise",))
    got = signals_of(whole, np.zeros(2), -np.arange(4.0), None)
    assert got[0, 0] == 2.5
    assert np.isnan(got[0, 1])  # nothing follows


def test_surprise_is_told_by_the_first_tokens() -> None:
    ends = np.array([1, 1 + 3 * FIRST], np.int64)
    long = TokenWindow(np.zeros(1 + 3 * FIRST, np.int32), ends, ("surprise",))
    assert tokens_read(long).tolist() == list(range(1, 1 + FIRST))


def test_topic_shift_by_hand() -> None:
    # The first token, an outlier, is left out. Sentence means (3, 1), (1, 3): centred (1, -1) and
    # (-1, 1), opposite.
    hidden = torch.tensor([[9.0, -99], [3, 1], [0, 2], [2, 4]])
    assert topic_shift(hidden, [(0, 2), (2, 4)]) == pytest.approx([1.0])


def test_shift_between_by_hand() -> None:
    # Two topics: the mean is 0, so nothing changes by centring.
    one, other = [2.0, 1.0], [-2.0, -1.0]
    shift = shift_between(np.array([one, one, one, other, other, other]))
    # After the first: one against 2 · one + other; after the second: 2 · one against one +
    # 2 · other; after the third: all against all.
    assert shift == pytest.approx([-1, 1, 1, 1, -1])
    # A sentence without tokens is passed over: what stands around it is compared.
    blank = [np.nan, np.nan]
    assert shift_between(np.array([one, blank, other])) == pytest.approx([1, 1])
    # Nothing on one side, or no direction, is no shift.
    assert np.isnan(shift_between(np.array([one, blank]))).all()
    assert np.isnan(shift_between(np.array([one, one]))).all()
    assert np.isnan(shift_between(np.array([blank, blank]))).all()


@pytest.mark.parametrize(
    ("architecture", "pack"),
    # The attention of gemma2 cannot be packed.
    [(name, True) for name in ("llama", "gemma3", "gpt2")]
    + [(name, False) for name in ("llama", "gemma3", "gpt2", "gemma2")],
)
@pytest.mark.parametrize("prefix", [[], PREFIX])
def test_signals_equal_those_of_full_logits(
    architecture: str, prefix: list[int], pack: bool
) -> None:
    model = make_model(architecture)
    ids = np.random.default_rng(0).integers(2, 90, 40).astype(np.int32)
    ends = np.array([7, 20, 31], np.int64)
    asked = TokenWindow(ids, ends, ("surprise", "loss", "topic", "eos"))
    other = TokenWindow(ids[:9], np.array([4, 9]), ("eos",))
    with torch.inference_mode():
        given = torch.tensor([[*prefix, *ids.tolist()]])
        out = model(given, output_hidden_states=True)
        log_p = out.logits[0].log_softmax(-1)[len(prefix) :]
        losses = -log_p[:-1].gather(1, torch.tensor(ids[1:, None].tolist()))[:, 0].numpy()
        layers = model.config.get_text_config().num_hidden_layers
        deep = out.hidden_states[max(1, round(2 / 3 * layers))][0, len(prefix) :]
    scorer = make_scorer(make_model(architecture), pack=pack, prefix=prefix)
    [got, _] = scorer.score([asked, other])
    # losses[t - 1] is that of token t
    assert got[0] == pytest.approx(
        [losses[6:14].mean(), losses[19:27].mean(), losses[30:38].mean()], abs=1e-4
    )
    assert got[1] == pytest.approx(
        [losses[:6].mean(), losses[6:19].mean(), losses[19:30].mean()], abs=1e-4
    )
    assert got[2] == pytest.approx(topic_shift(deep, spans_of_sentences(asked)), abs=1e-4)
    alone = TokenWindow(ids, ends)
    assert got[3] == pytest.approx(scorer.score([alone])[0][0], abs=1e-5)


def test_the_next_sentence_is_read_only_where_it_is_asked_for() -> None:
    sentences = ["ab. ", "  ", "c" * 99, " d."]
    tokens = DocumentTokens(sentences, lambda texts: [list(map(ord, text)) for text in texts])
    plain = tokens.window(0, 1)
    assert len(plain.ids) == 3
    # The blank sentence behind is passed over; its white space stands before the next one.
    ahead = tokens.window(0, 1, ("surprise",))
    assert ahead.ends.tolist() == [3]
    assert bytes(ahead.ids.tolist()) == b"ab.   " + b"c" * (AHEAD - 3)
    assert len(tokens.window(0, 4, ("topic",)).ids) == len(tokens.window(0, 4).ids)
    assert bytes(tokens.window(0, 3, ("topic",)).ids[-3:].tolist()) == b" d."


def test_rarity_by_hand() -> None:
    # Tokens a a b | b | (blank) | c: a and b twice, c once; each once more: 3, 3, 2 of 8.
    tokens = DocumentTokens(
        ["aab", "b ", " ", "c"], lambda texts: [[ord(c) for c in t.strip()] for t in texts]
    )
    a, c = -np.log(3 / 8), -np.log(2 / 8)
    window = tokens.window(0, 4, ("surprise",))
    assert window.rarity is not None
    assert window.rarity[:3] == pytest.approx([a, c, c])
    assert np.isnan(window.rarity[3])
    assert tokens.window(0, 2).rarity is None
    expected = signals_of(
        TokenWindow(window.ids, window.ends, window.signals), np.zeros(4), -np.arange(5.0), None
    )
    got = signals_of(window, np.zeros(4), -np.arange(5.0), None)
    assert got[0, :3] == pytest.approx(expected[0, :3] - window.rarity[:3])


def test_rarity_is_told_by_the_first_tokens() -> None:
    text = ["x" * 99, "y" * FIRST + "x" * 99]
    tokens = DocumentTokens(text, lambda texts: [[ord(c) for c in t] for t in texts])
    window = tokens.window(0, 1, ("surprise",))
    assert window.rarity == pytest.approx([-np.log((FIRST + 1) / (99 + FIRST + 99 + 2))])
