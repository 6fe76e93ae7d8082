"""Tokens and words a second of the scorer and the writer, with the memory and the padding they take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from gpu_checks.device import (
    Bench,
    Lines,
    free,
    gib,
    guarded,
    heads,
    held,
    peak,
    row,
    say,
    seconds_of,
)
from gpu_checks.networks import CONTEXT, Networks, linears, missing, scorer_of
from gpu_checks.rates import square
from gpu_checks.shapes import Prose, Window, windows
from lgmgc.chunkers.logits_guided import logits_guided
from lgmgc.chunkers.lumber import BEGIN, MOST, ids_of, instruction
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.lm.attention import NAME
from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.layout import padded
from lgmgc.lm.scheduler import ROUND, Job, Models, Scheduler, batch_sizes
from lgmgc.lm.scorer import Counters, Scorer
from lgmgc.lm.tokens import DocumentTokens
from lgmgc.lm.windows import TokenWindow
from lgmgc.lm.writer import Writer
from lgmgc.text.sizes import measure_words
from lgmgc.text.table import Limit, tabulate

Batch = list[Window]


def batches(bench: Bench, theta: int, budget: int) -> list[Batch]:
    """What the scheduler makes of the windows of as many documents as it keeps open."""
    pool = windows(theta, ROUND * budget, bench.shape.llama["vocab_size"])
    sizes = batch_sizes([len(one.window.ids) for one in pool], budget)
    left = iter(pool)
    return [[next(left) for _ in range(size)] for size in sizes]


def middle(made: list[Batch]) -> Batch:
    """One of them, neither the longest windows nor the shortest."""
    return made[len(made) // 2]


def tokens_of(batch: Batch) -> int:
    return sum(len(one.window.ids) for one in batch)


def padding_of(made: list[Batch]) -> float:
    """The share of token places that padding would take."""
    places = sum(len(batch) * len(batch[0].window.ids) for batch in made)
    return 1 - sum(map(tokens_of, made)) / places


def sweep(bench: Bench, networks: Networks, precision: str) -> Lines:
    """Every batch budget at the middle θ; all of them at the others too in bf16."""
    if lacking := missing(precision):
        yield f"Not run: {lacking} is not installed."
        return
    network = networks.get(precision)
    weights = held(bench.device)
    scorer = scorer_of(network)
    work = 2 * sum(layer.in_features * layer.out_features for layer in linears(network))
    best = guarded(bench.device, lambda: square(bench, precision))
    yield (
        f"{bench.shape.name}, random weights, {precision}; weights {gib(weights)}. "
        "Alone: the same rows through the network's own linear layers and nothing else. Of the card: "
        f"operations of those layers in the whole pass, as a share of large squares in that type "
        f"({best if isinstance(best, str) else f'{best / 1e12:,.3g} TFLOP/s'}). Memory: the peak "
        "beside the weights. Padding: what padding to the longest would add; packed windows have none."
    )
    yield from heads(
        "θ", "budget", "windows", "tokens", "tokens/s", "words/s",
        "alone, tokens/s", "share of alone", "share of the card", "memory", "padding",
    )  # fmt: skip
    speed = 0.0
    alone: dict[int, float | str] = {}
    for theta, budget in _cases(bench, precision):
        made = batches(bench, theta, budget)
        batch = middle(made)
        tokens, words = tokens_of(batch), sum(one.words for one in batch)
        foreseen = 4 * tokens / speed if speed else 0.0
        if not bench.has(foreseen, f"{precision} θ={theta} budget={budget}"):
            yield row([theta, f"{budget:,}", len(batch), f"{tokens:,}", "dropped", *["–"] * 6])
            continue
        free(bench.device)
        run = lambda b=batch: seconds_of(  # noqa: E731
            bench.device, lambda: scorer.score(_windows(b)), bench.shape.case
        )
        seconds = guarded(bench.device, run)
        memory = peak(bench.device) - weights
        padding = f"{padding_of(made):.1%}"
        if isinstance(seconds, str):
            yield row(
                [theta, f"{budget:,}", len(batch), f"{tokens:,}", seconds, *["–"] * 5, padding]
            )
            continue
        speed = tokens / seconds
        if budget not in alone:
            alone[budget] = guarded(bench.device, lambda r=tokens: r / _alone(bench, network, r))
        by_itself = alone[budget]
        cells = ["–", "–"] if isinstance(by_itself, str) else [
            f"{by_itself:,.0f}", f"{speed / by_itself:.0%}"
        ]  # fmt: skip
        of_card = "–" if isinstance(best, str) else f"{speed * work / best:.0%}"
        yield row([
            theta, f"{budget:,}", len(batch), f"{tokens:,}", f"{speed:,.0f}",
            f"{words / seconds:,.0f}", *cells, of_card, gib(memory), padding,
        ])  # fmt: skip
        say(f"  {precision} θ={theta} budget={budget}: {speed:,.0f} tokens/s")


def _cases(bench: Bench, precision: str) -> Iterator[tuple[int, int]]:
    others = [theta for theta in bench.shape.thetas if theta != bench.shape.theta]
    yield from ((bench.shape.theta, budget) for budget in bench.shape.budgets)
    budgets = bench.shape.budgets if precision == "bf16" else (bench.shape.budget,)
    yield from ((theta, budget) for theta in others for budget in budgets)


@torch.inference_mode()
def _alone(bench: Bench, network: PreTrainedModel, rows: int) -> float:
    """Seconds of all linear layers of the backbone, told from those of two decoder layers."""
    layers = linears(network)
    some = layers[: 2 * len(layers) // bench.shape.llama["num_hidden_layers"]]
    inputs = {
        layer.in_features: torch.randn(
            1, rows, layer.in_features, device=bench.device, dtype=torch.bfloat16
        )
        for layer in some
    }

    def run() -> None:
        for layer in some:
            layer(inputs[layer.in_features])

    return seconds_of(bench.device, run, 0.3, repeats=5) * len(layers) / len(some)


def layouts(bench: Bench, networks: Networks) -> Lines:
    """Windows end to end, or one a row."""
    network = networks.get("bf16")
    yield f"bf16, θ = {bench.shape.theta}: windows packed end to end, or padded to the longest."
    yield from heads("budget", "layout", "tokens/s", "memory", "padding")
    for layout in ("packed", "padded"):
        scorer = scorer_of(network, packed=layout == "packed")
        for budget in bench.shape.budgets[1::2]:
            batch = middle(batches(bench, bench.shape.theta, budget))
            scorer.counters = Counters()
            cells = _measured(bench, batch, lambda s=scorer, b=batch: s.score(_windows(b)))
            places = scorer.counters.padding + scorer.counters.tokens
            padding = f"{scorer.counters.padding / max(1, places):.1%}"
            yield row([f"{budget:,}", layout, *cells, padding])


def _windows(batch: Batch) -> list[TokenWindow]:
    return [one.window for one in batch]


def _measured(bench: Bench, batch: Batch, run: Callable[[], object]) -> tuple[str, str]:
    """Tokens of text a second, and memory beside what is held before."""
    free(bench.device)
    before = held(bench.device)
    seconds = guarded(bench.device, lambda: seconds_of(bench.device, run, bench.shape.case))
    if isinstance(seconds, str):
        return seconds, "–"
    return f"{tokens_of(batch) / seconds:,.0f}", gib(peak(bench.device) - before)


def prefix(bench: Bench, networks: Networks) -> Lines:
    """ρ of 100 tokens: its keys and values shared, or read again with every window."""
    network = networks.get("bf16")
    length = min(100, bench.shape.budget // 4)
    rho = np.random.default_rng(1).integers(0, bench.shape.llama["vocab_size"], length).tolist()
    batch = middle(batches(bench, bench.shape.theta, bench.shape.budget))
    yield (
        f"bf16, θ = {bench.shape.theta}, budget {bench.shape.budget:,}, ρ of {length} tokens; tokens of "
        "the text are counted, not ρ's. Difference of scores: the largest, in nats."
    )
    yield from heads("ρ", "text tokens/s", "memory", "difference from reading it again")
    ways = {"none": ([], True), "read again": (rho, False), "shared": (rho, True)}
    scores: dict[str, np.ndarray] = {}
    for name, (ids, cache) in ways.items():
        scorer = scorer_of(network, prefix=ids, prefix_cache=cache)

        def run(scorer: Scorer = scorer, name: str = name) -> None:
            scores[name] = np.concatenate(scorer.score(_windows(batch)), axis=1)[0]

        cells = _measured(bench, batch, run)
        compared = name == "shared" and {"shared", "read again"} <= scores.keys()
        off = np.abs(scores["shared"] - scores["read again"]).max() if compared else None
        yield row([name, *cells, "–" if off is None else f"{off:.2f}"])


def logits(bench: Bench, networks: Networks) -> Lines:
    """The logits of every token, as plain transformers gives them, or of sentence ends only."""
    network = networks.get("bf16")
    scorer = scorer_of(network)
    yield (
        f"bf16, θ = {bench.shape.theta}. Full: the network's own forward pass, padded, logits of every "
        "place, log-softmax in float32. Gathered: lgmgc's. Whether both are equal: see correctness."
    )
    yield from heads("budget", "logits", "tokens/s", "memory")
    for budget in bench.shape.budgets[1:5]:
        batch = middle(batches(bench, bench.shape.theta, budget))
        network.set_attn_implementation("sdpa")
        cells = _measured(bench, batch, lambda b=batch: full_scores(network, scorer, _windows(b)))
        yield row([f"{budget:,}", "full", *cells])
        network.set_attn_implementation(NAME)
        cells = _measured(bench, batch, lambda b=batch: scorer.score(_windows(b)))
        yield row([f"{budget:,}", "gathered", *cells])


@torch.inference_mode()
def full_scores(
    network: PreTrainedModel, scorer: Scorer, some: Sequence[TokenWindow]
) -> list[np.ndarray]:
    """Log p([EOS]) after every sentence of each window, from the network's own full logits."""
    layout = padded([np.concatenate((scorer._prefix, one.ids)).astype(np.int64) for one in some])
    ids = torch.from_numpy(layout.ids).to(network.get_input_embeddings().weight.device)
    log_p = network(ids, use_cache=False).logits.float().log_softmax(-1)
    scores = log_p[..., scorer._head._end_ids].logsumexp(-1).double().cpu().numpy()
    return [
        line[scorer.prefix_length + one.ends - 1] for line, one in zip(scores, some, strict=True)
    ]


def made_up_tokenizer(vocabulary: int, prose: Prose) -> PreTrainedTokenizerFast:
    """A byte-level BPE taught on made-up prose, so that tokenising costs what it costs."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    end = "<|end_of_text|>"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=min(vocabulary - 2, 4_000),
        special_tokens=[end],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([prose.document(1_000)[0] for _ in range(20)], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end)


def end_to_end(bench: Bench, networks: Networks) -> Lines:
    """The greedy rule over many documents with the scheduler, from text to cuts."""
    network, shape = networks.get("bf16"), bench.shape
    prose = Prose()
    encode = FastEncoder(made_up_tokenizer(shape.llama["vocab_size"], prose).backend_tokenizer)
    scorer = scorer_of(network, encode=encode)
    batch = middle(batches(bench, shape.theta, shape.budget))
    steady = guarded(bench.device, lambda: tokens_of(batch) / _once(scorer, batch))
    if isinstance(steady, str):
        yield f"Not run: {steady}"
        return
    length = 7 * shape.theta  # words of a document
    documents = max(3, int(shape.stream * steady / (length * 2)))
    texts = [prose.document(length) for _ in range(documents)]
    words = sum(int(measure_words([text])[0]) for text, _ in texts)

    def jobs() -> Iterator[Job[Any]]:
        for text, bounds in texts:
            table = tabulate(text, bounds, [Limit(measure_words, shape.theta)])
            cutting = logits_guided(table, Options(), Document("", text))
            yield Job(cutting, DocumentTokens(table.texts(), encode), np.ones(len(table), bool))

    free(bench.device)
    counters = scorer.counters
    calls, tokens, busy = counters.calls, counters.tokens, counters.seconds
    own, parents = 0, 0
    began = time.perf_counter()
    for job in Scheduler(Models(scorer), shape.budget).run(jobs()):
        if job.error is not None or job.result is None or job.tokens is None:
            raise RuntimeError(f"a document was not cut: {job.error}")
        parents += len(job.result.parents)
        own += len(job.tokens)
    seconds = time.perf_counter() - began
    read = counters.tokens - tokens
    busy = counters.seconds - busy
    yield (
        f"bf16, θ = {shape.theta}, budget {shape.budget:,}: {documents} made-up documents, "
        f"{words:,} words, {own / words:.2f} tokens a word. From text with known sentences to cuts: "
        "tokenising, scheduling, scoring. Waits: the share of the time in which the scorer is not "
        "running. Steady: tokens/s in the scorer alone, over those of one batch again and again."
    )
    yield from heads(
        "words/s",
        "tokens/s",
        "read for each token",
        "passes",
        "parents",
        "waits",
        "of steady",
        "memory",
    )
    yield row([
        f"{words / seconds:,.0f}", f"{read / seconds:,.0f}", f"{read / own:.2f}",
        counters.calls - calls, parents, f"{1 - busy / seconds:.1%}",
        f"{read / busy / steady:.0%}", gib(peak(bench.device)),
    ])  # fmt: skip


def _once(scorer: Scorer, batch: Batch) -> float:
    """Seconds of a batch after a first pass."""
    some = _windows(batch)
    scorer.score(some)
    began = time.perf_counter()
    scorer.score(some)
    return time.perf_counter() - began


def writing(bench: Bench, networks: Networks) -> Lines:
    """What LumberChunker asks: an answer written, or the possible answers weighed."""
    network = networks.get("bf16")
    prose = Prose(seed=1)
    tokenizer = made_up_tokenizer(bench.shape.llama["vocab_size"], prose)
    scorer = scorer_of(network, encode=FastEncoder(tokenizer.backend_tokenizer))
    writer = Writer(network, tokenizer, bench.shape.name, scorer)
    long = 64 if bench.shape.case else 4
    paragraph = bench.shape.group // 11
    prompts = [instruction([prose.document(paragraph)[0] for _ in range(11)]) for _ in range(4)]
    options = ids_of(11)[1:]
    lengths = [writer.prompt_length(prompt) for prompt in prompts]
    assert max(lengths) + long < CONTEXT
    yield (
        f"bf16, one prompt at a time, {min(lengths)} to {max(lengths)} tokens each, 10 possible answers. "
        "The published group has 550 tokens. Random weights rarely write an end token."
    )
    yield from heads("reader", "ms a prompt", "prompts/s", "tokens/s written", "tokens/s read")
    ways: dict[str, Callable[[str], object]] = {
        f"generate, {MOST} tokens": lambda prompt: writer.write(prompt, MOST),
        f"generate, {long} tokens": lambda prompt: writer.write(prompt, long),
        "logits": lambda prompt: writer.weigh(prompt, BEGIN, options),
    }
    for name, ask in ways.items():
        if not bench.has(3.0 if bench.shape.case else 0.0, f"writer: {name}"):
            yield row([name, "dropped", *["–"] * 3])
            continue
        before = writer.counters.written_tokens
        made = guarded(bench.device, lambda ask=ask: _asked(ask, prompts))
        if isinstance(made, str):
            yield row([name, made, *["–"] * 3])
            continue
        # The prompts were asked once to warm up, and once for the clock.
        written = (writer.counters.written_tokens - before) / (len(prompts) + 1)
        seconds = statistics.median(made)
        yield row([
            name, f"{seconds * 1e3:.1f}", f"{1 / seconds:.1f}",
            f"{written / seconds:,.0f}" if written else "–",
            f"{statistics.mean(lengths) / seconds:,.0f}",
        ])  # fmt: skip


def _asked(ask: Callable[[str], object], prompts: Sequence[str]) -> list[float]:
    """Seconds of each prompt, after the first one was asked to warm up."""
    ask(prompts[0])
    spent = []
    for prompt in prompts:
        began = time.perf_counter()
        ask(prompt)
        spent.append(time.perf_counter() - began)
    return spent
