"""Are the cuts right? On a model whose scores differ from sentence to sentence, unlike random ones."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from gpu_checks import ROOT
from gpu_checks.device import Bench, Lines, free, guarded, heads, row, say, short
from gpu_checks.networks import NEEDS, build, missing, quantise, scorer_of
from gpu_checks.shapes import SMALL, windows
from gpu_checks.speed import full_scores
from lgmgc.chunkers.logits_guided import best
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.scorer import Scorer
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import TokenWindow
from lgmgc.text.sizes import measure_words
from lgmgc.text.table import Limit, tabulate

EXACT = 2e-3
"""Nats by which scores in fp32 may differ between two ways of computing them."""
ROUNDED = 0.1
"""The same in bf16, for the median: its steps around a logit of 16 are 1/16."""
NEAR = {"fp32": EXACT, "bf16": 0.25}
"""Nats within which two sentences count as a tie; another neighbour in the batch may decide it."""
LEAST = {"fp32": 0.95, "bf16": 0.85, "int8": 0.60}
"""The share of cuts below which something is broken, not merely rounded."""
EMMA = ROOT.parent / "shared/data/gutenqa_emma/emma_from_paragraphs.txt"


@dataclass(slots=True)
class Subject:
    """A model to check.

    Attributes:
        name: with what there is to say of it.
        open: gives its network and scorer, by precision and device.
        windows: to be cut.
    """

    name: str
    open: Callable[[str, str], tuple[PreTrainedModel, Scorer]]
    windows: list[TokenWindow]


def correctness(bench: Bench) -> Lines:
    """Full against gathered, alone against in a batch, precision against precision."""
    subject = subject_of(bench)
    many, few = subject.windows, subject.windows[: bench.shape.checked[1]]
    yield (
        f"{subject.name}; {len(many)} windows, one cut each, {sum(len(w.ends) for w in many)} sentences. "
        f"Checks in fp32 may differ by {EXACT} nats; a cut in another batch may move only between "
        f"sentences within {NEAR['fp32']} (fp32) or {NEAR['bf16']} nats (bf16); no fewer equal cuts than "
        f"{LEAST['fp32']:.0%} (fp32), {LEAST['bf16']:.0%} (bf16) and {LEAST['int8']:.0%} (int8), below which "
        "something is broken. "
        "What lgmgc wants of a precision is 98 % of bf16's cuts on a real book."
    )
    yield from heads("check", "measured", "verdict")
    where = bench.device.type
    scores: dict[str, list[np.ndarray]] = {}
    for precision in ("fp32", "bf16"):
        made = guarded(bench.device, lambda p=precision: _one(bench, subject, p, many, few))
        if isinstance(made, str):
            bench.wrong.append(f"correctness in {precision}")
            yield row([f"{precision} on {where}", made, "FAILED"])
            continue
        scores[precision], checks = made
        for check, measured, holds in checks:
            yield _verdict(bench, f"{precision} on {where}: {check}", measured, holds)
    yield from _against_cpu(bench, subject, scores, few)
    yield from _against_bf16(bench, subject, scores.get("bf16"))


def _against_cpu(
    bench: Bench, subject: Subject, scores: dict[str, list[np.ndarray]], few: list[TokenWindow]
) -> Lines:
    cpu = torch.device("cpu")
    made = guarded(cpu, lambda: _batched(subject.open("fp32", "cpu")[1], few, 4_096))
    for precision, its in scores.items():
        check = f"{precision} on {bench.device.type} against fp32 on the CPU, equal cuts"
        if isinstance(made, str):
            yield _verdict(bench, check, made, False)
            continue
        share = equal(its[: len(few)], made)
        measured = f"{share:.1%}{_moved(its[: len(few)], made)}"
        yield _verdict(bench, check, measured, share >= LEAST[precision])


def _against_bf16(bench: Bench, subject: Subject, scores: list[np.ndarray] | None) -> Lines:
    for precision in NEEDS:
        if precision == "bf16":
            continue
        check = f"{precision} against bf16, equal cuts"
        if lacking := missing(precision):
            yield row([check, f"not run: {lacking} is not installed", "–"])
            continue
        if scores is None or not bench.has(3.0 if bench.shape.case else 0.0, check):
            yield row([check, "dropped", "–"])
            continue
        made = guarded(bench.device, lambda p=precision: _scored(bench, subject, p))
        if isinstance(made, str):  # no wrong cut, but none at all
            yield row([check, made, "–"])
            continue
        share = equal(made, scores)
        holds = share >= LEAST[precision] if precision in LEAST else None
        yield _verdict(bench, check, f"{share:.1%}{_moved(made, scores)}", holds)


def _verdict(bench: Bench, check: str, measured: str, holds: bool | None) -> str:
    if holds is False:
        bench.wrong.append(check)
    word = {True: "holds", False: "FAILED", None: "–"}[holds]
    return row([check, measured, word])


Checks = list[tuple[str, str, bool]]


def _one(
    bench: Bench,
    subject: Subject,
    precision: str,
    many: list[TokenWindow],
    few: list[TokenWindow],
) -> tuple[list[np.ndarray], Checks]:
    """What must hold within one precision; and its scores."""
    free(bench.device)
    network, scorer = subject.open(precision, bench.device.type)
    together = _batched(scorer, many, bench.shape.budget)
    alone = [scorer.score([window])[0][0] for window in few]
    own = network.config._attn_implementation
    network.set_attn_implementation("sdpa")
    whole = [full_scores(network, scorer, [window])[0] for window in few]
    network.set_attn_implementation(own)
    apart = np.abs(np.concatenate(whole) - np.concatenate(together[: len(few)]))
    say(f"  correctness in {precision}: full and gathered differ by {apart.max():.1e} at most")
    value, limit = (apart.max(), EXACT) if precision == "fp32" else (np.median(apart), ROUNDED)
    kind = "largest" if precision == "fp32" else "median"
    beside = together[: len(few)]
    moved = [gap(a, b) for a, b in zip(alone, beside, strict=True)]
    shared = equal(alone, beside)
    rounded = _head_error(network, scorer)
    return together, [
        (
            "the output layer equals float64 from the same states",
            f"largest difference {rounded:.1e} nats",
            rounded <= EXACT,
        ),
        (
            "gathered equals full logits",
            f"{kind} difference {value:.1e} nats; largest {apart.max():.1e}",
            bool(value <= limit),
        ),
        (
            "a window alone is cut as in a batch (law 4)",
            f"{shared:.1%} equal; largest gap of a moved cut {max(moved):.1e} nats",
            max(moved) <= NEAR[precision],
        ),
    ]


@torch.inference_mode()
def _head_error(network: PreTrainedModel, scorer: Scorer) -> float:
    """The largest error of p([EOS]) that the head makes, which multiplies bf16 into float32 on CUDA."""
    layer = network.get_output_embeddings().weight
    torch.manual_seed(2)
    states = torch.randn(70, layer.shape[1], device=layer.device).to(layer.dtype)
    exact = (states.double() @ layer.double().t()).log_softmax(-1)
    exact = exact[:, scorer._head._end_ids].logsumexp(-1)
    return float((scorer._head(states).double() - exact).abs().max())


def _scored(bench: Bench, subject: Subject, precision: str) -> list[np.ndarray]:
    free(bench.device)
    scorer = subject.open(precision, bench.device.type)[1]
    return _batched(scorer, subject.windows, bench.shape.budget)


def _batched(scorer: Scorer, some: list[TokenWindow], budget: int) -> list[np.ndarray]:
    """Scores of windows, about a budget at a time."""
    size = max(2, budget // max(len(window.ids) for window in some))
    return [
        scores[0] for k in range(0, len(some), size) for scores in scorer.score(some[k : k + size])
    ]


def equal(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """The share of windows that are cut after the same sentence."""
    return float(np.mean([best(a) == best(b) for a, b in zip(some, others, strict=True)]))


def gap(some: np.ndarray, others: np.ndarray) -> float:
    """By how many nats two sentences differ between which a cut moved; 0 where it did not.

    Each batch prefers its own sentence; the smaller of the two margins says how near a tie it was.
    """
    a, b = best(some), best(others)
    return float(min(some[a] - some[b], others[b] - others[a]))


def _moved(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> str:
    gaps = [gap(a, b) for a, b in zip(some, others, strict=True) if best(a) != best(b)]
    return f"; moved ones by {np.median(gaps):.2f} nats in the median" if gaps else ""


def subject_of(bench: Bench) -> Subject:
    """The real small model where it is at hand, else a random one with scaled logits."""
    if bench.shape.case or bench.model:
        try:
            return _real(bench)
        except (
            Exception
        ) as error:  # no model, no tokenizer, no library to read it: said in the table
            say(f"  no real model: {short(error)}")
            return _random(bench, f" (no real model here: {short(error)})")
    return _random(bench, "")


def _real(bench: Bench) -> Subject:
    from lgmgc.lm.load import load_scorer
    from lgmgc.lm.locate import locate
    from lgmgc.lm.store import default_cache
    from lgmgc.lm.tokenizer import load_tokenizer

    located = locate(str(bench.model) if bench.model else "smollm2-135m-instruct", default_cache())

    def opened(precision: str, device: str) -> tuple[PreTrainedModel, Scorer]:
        native = precision in ("fp32", "bf16", "int8", "int4")
        loaded = load_scorer(located, device=device, precision=precision if native else "bf16")
        if not native:
            quantise(loaded.network, precision)
        return loaded.network, loaded.scorer

    paths = (bench.text, EMMA, ROOT / "samples/harbour.md")
    path = next(path for path in paths if path and path.exists())
    text = path.read_text(encoding="utf-8")[:600_000]
    ends = [match.end() for match in re.finditer(r"[.!?][\"'”’)]*\s+|\n\n+", text)]
    table = tabulate(text, [0, *(e for e in ends if e < len(text)), len(text)], [
        Limit(measure_words, 300)
    ])  # fmt: skip
    encode = FastEncoder(load_tokenizer(located.folder).backend_tokenizer)
    tokens = DocumentTokens(table.texts(), encode)
    last = max(1, len(table) - 40)
    starts = np.unique(np.linspace(0, last, bench.shape.checked[0]).astype(int)).tolist()
    made = [tokens.window(start, table.fit(start)) for start in starts]
    some = [window for window in made if window.ends.all() and len(window.ends) > 1]
    return Subject(f"{located.name} on {path.name}, θ = 300", opened, some)


def _random(bench: Bench, why: str) -> Subject:
    """A small random Llama, its logits scaled so that p([EOS]) differs by some nats, without ties."""
    network = build(SMALL, torch.device("cpu")).float()
    for layer in network.base_model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.weight.data *= 2.5  # attention that looks somewhere, not everywhere alike
    theta = min(200, 3 * bench.shape.theta)
    tokens = int(bench.shape.checked[0] * theta * 1.3)
    made = [w.window for w in windows(theta, tokens, SMALL["vocab_size"], seed=3)]
    some = [window for window in made if len(window.ends) > 1]
    np.random.default_rng(4).shuffle(some)  # batches of unequal lengths
    scorer = scorer_of(copy.deepcopy(network))
    spread = np.std(np.concatenate([scores[0] for scores in scorer.score(some[:8])]))
    network.get_output_embeddings().weight.data *= 2.0 / float(spread)

    def opened(precision: str, device: str) -> tuple[PreTrainedModel, Scorer]:
        one = copy.deepcopy(network).to(device)
        if precision != "fp32":
            for weight in one.parameters():  # not the buffers: transformers keeps them in float32
                weight.data = weight.data.bfloat16()
            quantise(one, precision)
        return one, scorer_of(one)

    sizes = f"{SMALL['num_hidden_layers']} layers of {SMALL['hidden_size']}"
    name = f"A random Llama of {sizes}, logits scaled to a deviation of 2 nats{why}"
    return Subject(name, opened, some)
