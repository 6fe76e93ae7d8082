"""The real scorer against the paper's rule, spelt literally."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from lgmgc import Chunker, Document, Settings
from lgmgc.chunkers.logits_guided import logits_guided
from lgmgc.chunkers.options import Options
from lgmgc.lm.locate import locate
from lgmgc.lm.scheduler import Job, Models, Scheduler
from lgmgc.lm.store import default_cache
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import TokenWindow
from lgmgc.text.sentences import split
from tests.real.conftest import MODEL, Load

TOLERANCE = 1e-3  # nats, fp32: what other shapes of the same products differ by, ten times over


@torch.inference_mode()
def reference(text: str, theta: int) -> list[tuple[int, float]]:
    """The paper's rule: one forward pass for each prefix of a window, argmax, repeat."""
    folder = locate(MODEL, default_cache()).folder
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    bounds = split(text)
    cuts, k, last = [], 0, len(bounds) - 1
    while len(text[bounds[k] :].split()) > theta:
        stops = [
            m for m in range(k + 1, last + 1) if len(text[bounds[k] : bounds[m]].split()) <= theta
        ]
        prefixes = [
            tokenizer(text[bounds[k] : bounds[m]].strip(), return_tensors="pt") for m in stops
        ]
        scores = [model(p.input_ids).logits[0, -1].log_softmax(-1)[0].item() for p in prefixes]
        k = stops[int(np.argmax(scores))]
        cuts.append((bounds[k], max(scores)))
    return cuts


def test_one_pass_cuts_as_one_pass_for_every_prefix(load: Load, sample: str) -> None:
    text = sample[: sample.index("\n\n", 5_000)]
    loaded = load(precision="fp32")
    assert loaded.eos == [(0, "<|endoftext|>")]
    tree = Chunker(Settings("lg", theta=100), loaded.scorer).chunk(text)
    expected = reference(text, theta=100)
    assert len(expected) >= 8
    assert [parent.end for parent in tree.parents[:-1]] == [cut for cut, _ in expected]
    scores = [parent.score for parent in tree.parents[:-1]]
    assert scores == pytest.approx([score for _, score in expected], abs=TOLERANCE)
    assert tree.parents[-1].score is None


def test_bf16_scores_stay_close_to_fp32(load: Load, sample: str) -> None:
    windows = _windows(load, sample)
    exact = np.concatenate(load(precision="fp32").scorer.score(windows), axis=1)
    short = np.concatenate(load(precision="bf16").scorer.score(windows), axis=1)
    assert np.corrcoef(exact[0], short[0])[0, 1] > 0.99
    assert np.abs(exact - short).mean() < 0.1


def _windows(load: Load, text: str, theta: int = 100, count: int = 16) -> list[TokenWindow]:
    chunker = Chunker(Settings("lg", theta), load(precision="fp32").scorer)
    sentences, job = chunker._prepare(Document("", text))
    assert job.tokens is not None
    starts = np.linspace(0, len(sentences) - 10, count).astype(int).tolist()
    return [job.tokens.window(start, sentences.fit(start)) for start in starts]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_batch_neighbours_change_no_bit(load: Load, sample: str, precision: str) -> None:
    scorer = load(precision=precision).scorer
    assert scorer.packed
    windows = _windows(load, sample)
    alone = [scorer.score([window])[0] for window in windows]
    for together in (scorer.score(windows), scorer.score(windows[::-1])[::-1]):
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


def test_prefix_cache_on_and_off_make_the_same_cuts(load: Load, sample: str) -> None:
    options = {"precision": "fp32", "prompt": "A text about a town, in parts.\n\n"}
    text, cuts = sample[:5_000], []
    for prefix_cache in (True, False):
        scorer = load(**options, prefix_cache=prefix_cache).scorer
        parents = Chunker(Settings("lg", 100), scorer).chunk(text).parents[:-1]
        cuts.append([(parent.end, parent.score) for parent in parents])
    assert [end for end, _ in cuts[0]] == [end for end, _ in cuts[1]]
    assert [s for _, s in cuts[0]] == pytest.approx([s for _, s in cuts[1]], abs=TOLERANCE)


def test_a_document_alone_and_among_others(load: Load, sample: str) -> None:
    scorer = load(precision="bf16").scorer
    paragraphs = sample.split("\n\n")
    documents = [Document(str(k), "\n\n".join(paragraphs[k : k + 9])) for k in range(0, 27, 9)]
    alone = [Chunker(Settings(theta=100), scorer).chunk(document) for document in documents]
    assert alone == list(Chunker(Settings(theta=100), scorer, 2_000).chunk_many(documents))
    assert alone == list(Chunker(Settings(theta=100), scorer, 100).chunk_many(documents))


def test_chains_make_the_cuts_of_one_chain(load: Load, sample: str) -> None:
    scorer = load(precision="bf16").scorer
    chunker = Chunker(Settings("lg", 40), scorer)
    sentences, job = chunker._prepare(Document("", sample))
    assert job.tokens is not None
    cuts = [_run(scorer, sentences, job.tokens, chain) for chain in (0, 4)]
    assert cuts[0] == cuts[1]
    assert len(cuts[0]) > 40


def _run(scorer, sentences, tokens: DocumentTokens, chain: int):  # type: ignore[no-untyped-def]
    job = Job(
        logits_guided(sentences, Options(), Document("", ""), chain),
        tokens,
        np.ones(len(sentences), bool),
    )
    [done] = Scheduler(Models(scorer), 4_096).run([job])
    assert done.result is not None
    return done.result.parents


def test_what_the_model_is_asked_for_is_linear_in_text(load: Load, sample: str) -> None:
    counts = []
    for times in (1, 2):
        scorer = load(precision="bf16").scorer
        before = scorer.counters.tokens, scorer.counters.rows, scorer.counters.windows
        chunker = Chunker(Settings("lg", 150), scorer)
        chunker.chunk("\n\n".join([sample] * times))
        after = scorer.counters.tokens, scorer.counters.rows, scorer.counters.windows
        counts.append([b - a for a, b in itertools.zip_longest(before, after)])
    ratios = np.array(counts[1]) / np.array(counts[0])
    assert ratios == pytest.approx(2, rel=0.1)


def test_one_row_of_logits_for_each_sentence_end(load: Load, sample: str) -> None:
    scorer = load(precision="bf16").scorer
    windows = _windows(load, sample, count=3)
    before = scorer.counters.rows
    scorer.score(windows)
    assert scorer.counters.rows - before == sum(len(window.ends) for window in windows)


def test_padded_windows_score_as_packed_ones(load: Load, sample: str) -> None:
    windows = _windows(load, sample, count=4)
    packed = load(precision="fp32").scorer.score(windows)
    other = load(precision="fp32", prompt="").scorer  # a second one, whose attention is switched
    other.packed, other._grain = False, 1
    other._backbone.set_attn_implementation("sdpa")  # type: ignore[operator]
    for one, two in zip(packed, other.score(windows), strict=True):
        assert one == pytest.approx(two, abs=TOLERANCE)
