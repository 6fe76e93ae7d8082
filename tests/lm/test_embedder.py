import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

from lgmgc.errors import ModelError
from lgmgc.lm import embedder
from lgmgc.lm.embedder import Embedder, load_embedder
from lgmgc.lm.windows import OutOfMemoryError, TokenArray

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, *"abcdefghijklmnop", "query", "passage", ":", "##s", "."]
ID = {word: k for k, word in enumerate(WORDS)}
READS = 16
LIMIT = READS - 2  # [CLS] and [SEP]
HIDDEN = 32

Vector = NDArray[np.float32]
Copy = Callable[..., Path]


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


def modules(*kinds: tuple[str, str]) -> list[dict[str, object]]:
    package = "sentence_transformers.models."
    return [
        {"idx": k, "name": str(k), "path": path, "type": package + kind}
        for k, (kind, path) in enumerate(kinds)
    ]


def save(network: PreTrainedModel, folder: Path, reads: int = READS) -> Path:
    """A folder as sentence-transformers saves one: WordPiece of 26 entries, mean pooling."""
    wordpiece = Tokenizer(models.WordPiece(ID, unk_token="[UNK]"))
    wordpiece.normalizer = normalizers.BertNormalizer()
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    wordpiece.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=wordpiece, pad_token="[PAD]", unk_token="[UNK]", sep_token="[SEP]"
    ).save_pretrained(folder)
    network.save_pretrained(folder)
    write(folder / "sentence_bert_config.json", {"max_seq_length": reads, "do_lower_case": False})
    pooling = {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True}
    write(folder / "1_Pooling" / "config.json", pooling)
    write(folder / "modules.json", modules(("Transformer", ""), ("Pooling", "1_Pooling")))
    return folder


SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS),
    "hidden_size": HIDDEN,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.5,  # wide, so that texts differ
}


@pytest.fixture(scope="session")
def network() -> BertModel:
    torch.manual_seed(7)
    model = BertModel(BertConfig(**SIZES, max_position_embeddings=32))
    model.train(False)
    return model


@pytest.fixture(scope="session")
def folder(network: BertModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(network, tmp_path_factory.mktemp("models") / "tiny-embedder")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Copy:
    """Copies the folder, with some JSON files changed."""

    def copied(name: str = "copy", **changes: Any) -> Path:
        target = shutil.copytree(folder, tmp_path / name)
        for file, content in changes.items():
            path = target / f"{file}.json"
            write(path, (json.loads(path.read_text()) if path.exists() else {}) | content)
        return target

    return copied


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LGMGC_EMBEDDER", raising=False)
    monkeypatch.chdir(tmp_path)


def load(folder: Path, **options: Any) -> Embedder:
    return load_embedder(str(folder), device="cpu", **options)


def ids(text: str) -> list[int]:
    return [ID[word] for word in text.split()]


def unit(vector: Any) -> Vector:
    array = np.asarray(vector, np.float32)
    return array / np.float32(np.linalg.norm(array))


def by_hand(network: PreTrainedModel, text: str, skip: int = 0) -> Vector:
    """The mean over all tokens, special ones too, of one text by itself."""
    with torch.inference_mode():
        row = torch.tensor([[ID["[CLS]"], *ids(text), ID["[SEP]"]]])
        return unit(network(row).last_hidden_state[0, skip:].mean(0))


def close(one: Any, two: Any) -> None:
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-5)


TEXTS = ["a b c", "d", "e f g h i j k l m n o p a b", "c d e f .", "p p p", "b a", "o n m l k j"]


def test_a_text_is_what_the_model_makes_of_it(folder: Path, network: BertModel) -> None:
    loaded = load(folder)
    assert (loaded.name, loaded.dimensions, loaded.limit) == ("tiny-embedder", HIDDEN, LIMIT)
    vectors = loaded.passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), HIDDEN)
    close(vectors, [by_hand(network, text) for text in TEXTS])
    close(np.linalg.norm(vectors, axis=1), 1)
    assert (vectors @ vectors.T)[~np.eye(len(TEXTS), dtype=bool)].max() < 0.99  # they do differ
    assert loaded.queries(TEXTS).tobytes() == vectors.tobytes()  # no prefixes here
    assert loaded.passages([]).shape == (0, HIDDEN)


# Seven texts are taken three at a time, so that the fewest batches are three.
@pytest.mark.parametrize(("budget", "batches"), [(1, 7), (20, 5), (10**6, 3)])
def test_neighbours_change_last_bits_only(
    budget: int, batches: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = np.concatenate([load(folder).passages([text]) for text in TEXTS])
    monkeypatch.setattr(embedder, "_AT_ONCE", 3)
    loaded = load(folder, batch_tokens=budget)
    done: list[int] = []
    vectors = loaded.passages(TEXTS, done.append)
    assert np.abs(vectors - alone).max() < 1e-6
    assert loaded.passages(TEXTS).tobytes() == vectors.tobytes()
    assert done == sorted(done)
    assert done[-1] == len(TEXTS)
    assert len(done) == batches


def test_batches_keep_within_the_budget(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(folder, batch_tokens=32)
    batches = record(loaded, monkeypatch)
    loaded.passages(TEXTS)
    assert all(len(batch) * max(batch) <= 32 for batch in batches)
    lengths = list(chain.from_iterable(batches))
    assert lengths == sorted(lengths, reverse=True)
    assert len(batches) == 3


def record(
    loaded: Embedder, monkeypatch: pytest.MonkeyPatch, memory: int = 10**9
) -> list[list[int]]:
    """The lengths of the rows of each batch that is run; larger ones than memory are refused."""
    batches: list[list[int]] = []
    network = loaded._network

    def call(rows: Sequence[TokenArray], prefix: int) -> Vector:
        lengths = [len(row) for row in rows]
        if len(rows) * max(lengths) > memory:
            raise OutOfMemoryError("too much")
        batches.append(lengths)
        return network(rows, prefix)

    monkeypatch.setattr(call, "tokenizer", network.tokenizer, raising=False)
    monkeypatch.setattr(call, "before", network.before, raising=False)
    monkeypatch.setattr(call, "after", network.after, raising=False)
    monkeypatch.setattr(loaded, "_network", call)
    return batches


def test_a_batch_that_does_not_fit_is_halved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(folder)
    whole = loaded.passages(TEXTS)
    batches = record(loaded, monkeypatch, memory=40)
    close(loaded.passages(TEXTS), whole)
    assert all(len(batch) * max(batch) <= 40 for batch in batches)
    assert loaded.batch_tokens <= 40
    record(loaded, monkeypatch, memory=4)
    with pytest.raises(ModelError, match="a single window of 16 tokens does not fit in memory"):
        loaded.passages(TEXTS)


def test_a_long_text_is_pooled_over_windows(folder: Path, network: BertModel) -> None:
    words = [WORDS[5 + k % 16] for k in range(2 * LIMIT + 3)]  # 31 tokens: windows of 11, 10, 10
    windows = [words[:11], words[11:21], words[21:]]
    loaded = load(folder)
    full = " ".join(words[:LIMIT])
    long, exact = loaded.passages([" ".join(words), full])
    sums = sum(len(w) * by_hand(network, " ".join(w)) for w in windows)
    close(long, unit(sums))
    close(exact, by_hand(network, full))
    counters = loaded.counters
    assert (counters.texts, counters.windows, counters.pooled) == (2, 4, 1)
    assert counters.tokens == 31 + LIMIT + 4 * 2
    assert counters.seconds > 0


def test_a_window_may_begin_within_a_word(folder: Path) -> None:
    # Cut as tokens: written out again, a window that begins with "##s" would have others.
    [vector] = load(folder).passages(["a" + "s" * LIMIT])
    assert np.isfinite(vector).all()


def test_blank_texts_are_the_empty_text(folder: Path, network: BertModel) -> None:
    vectors = load(folder).passages(["", " \n\t", "a b c", "  a b c\n\n"])
    close(vectors[:2], [by_hand(network, "")] * 2)
    assert vectors[2].tobytes() == vectors[3].tobytes()  # white space around a text is not read


def test_no_text_is_a_special_token(folder: Path, network: BertModel) -> None:
    loaded = load(folder)
    close(loaded.passages(["a [SEP] b"])[0], by_hand(network, "a [UNK] [UNK] [UNK] b"))
    close(loaded.queries(["a \udcff b"])[0], by_hand(network, "a [UNK] b"))  # from a command line


E5 = ("query: ", "passage: ")
BGE = ("Represent this sentence for searching relevant passages: ", "")


@pytest.mark.parametrize(
    ("name", "settings", "origin", "expected"),
    [
        ("mine", {}, "", ("", "")),
        ("mine", {"prompts": {"query": "a: ", "document": "b: "}}, "", ("a: ", "b: ")),
        ("mine", {"prompts": {"query": "a: ", "passage": "b: "}}, "", ("a: ", "b: ")),
        ("mine", {"prompts": {"x": "c "}, "default_prompt_name": "x"}, "", ("c ", "c ")),
        ("e5-base-v2", {"prompts": {"query": "", "document": ""}}, "", E5),
        ("intfloat_multilingual-E5-small", {}, "", E5),
        ("e5-base-v2", {"prompts": {"query": "a: "}}, "", ("a: ", "")),  # the folder goes first
        ("multilingual-e5-large-instruct", {}, "", ("", "")),
        ("mine", {}, "intfloat/e5-large/", E5),
        ("bge-small-en-v1.5", {}, "", BGE),
        ("bge-m3", {}, "", ("", "")),
    ],
)
def test_prefixes(
    name: str, settings: dict[str, Any], origin: str, expected: tuple[str, str], copy: Copy
) -> None:
    changes = {"config_sentence_transformers": settings, "config": {"_name_or_path": origin}}
    changes["sentence_bert_config"] = {"max_seq_length": 32}
    prefixes = load(copy(name, **changes)).prefixes
    assert (prefixes.query, prefixes.passage) == expected


def test_prefixes_are_read_with_every_window(copy: Copy, network: BertModel) -> None:
    loaded = load(copy("e5-small-v2"))
    assert loaded.limit == LIMIT - 2  # "query" and ":"
    close(loaded.queries(["a b"])[0], by_hand(network, "query : a b"))
    close(loaded.queries([" "])[0], by_hand(network, "query :"))
    words = ["c", *"abcdefghijklm"]  # 14: two windows of 7
    halves = [by_hand(network, "passage : " + " ".join(half)) for half in (words[:7], words[7:])]
    close(loaded.passages([" ".join(words)])[0], unit(sum(halves)))


def test_a_token_that_reaches_out_of_the_prefix_is_the_texts() -> None:
    # Byte-level BPE, as ModernBERT and Qwen have it, joins a space to the word behind it.
    vocabulary = {token: k for k, token in enumerate(("q", ":", "Ġ", "a", "Ġa"))}
    bpe = Tokenizer(models.BPE(vocabulary, [("Ġ", "a")]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoding = bpe.encode("q: aq")
    assert encoding.tokens == ["q", ":", "Ġa", "q"]
    assert [embedder._tokens_before(encoding, len("q: "), most) for most in (3, 2, 1)] == [2, 2, 1]


def test_a_prefix_may_be_left_out_of_the_mean(copy: Copy, network: BertModel) -> None:
    folder = copy("e5-small-v2")
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text())
    write(folder / "1_Pooling" / "config.json", pooling | {"include_prompt": False})
    close(load(folder).queries(["a b"])[0], by_hand(network, "query : a b", skip=3))


def test_a_prefix_that_leaves_no_room(copy: Copy) -> None:
    folder = copy(config_sentence_transformers={"prompts": {"query": "a " * LIMIT}})
    with pytest.raises(ModelError, match="reads 16 tokens, and its prefix takes them all"):
        load(folder)


def test_identity(folder: Path, copy: Copy) -> None:
    same = copy("same")
    (same / "README.md").write_text("not read by the model")
    own = load(folder).identity
    assert re.fullmatch("[0-9a-f]{64}", own)
    assert load(same).identity == own
    weights = load_file(same / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][5, 0] += 1
    save_file(weights, same / "model.safetensors", {"format": "pt"})
    pooling = copy("pooling")
    write(
        pooling / "1_Pooling" / "config.json",
        {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True},
    )
    others = {
        load(same).identity,
        load(pooling).identity,
        load(copy("e5-small")).identity,  # the same files, other prefixes
        load(copy("reads", sentence_bert_config={"max_seq_length": 15})).identity,
    }
    assert len(others | {own}) == 5


def test_identity_knows_our_rule(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load(folder).identity
    monkeypatch.setattr(embedder, "_RULE", 2)
    assert load(folder).identity != own


def test_positions_that_begin_behind_the_padding(tmp_path: Path) -> None:
    torch.manual_seed(7)
    config = RobertaConfig(**SIZES, max_position_embeddings=20, pad_token_id=1)
    folder = save(RobertaModel(config), tmp_path / "roberta", reads=512)  # the folder is wrong
    loaded = load(folder)
    assert loaded.limit == 20 - 2 - 2
    assert np.isfinite(loaded.passages(["a b c d " * 10, "d"])).all()


def with_dense(folder: Path, suffix: str) -> Path:
    parts = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense")]
    write(folder / "modules.json", modules(*parts))
    dense = {"in_features": HIDDEN, "out_features": 3, "bias": False}
    activation = {"activation_function": "torch.nn.modules.linear.Identity"}
    write(folder / "2_Dense" / "config.json", dense | activation)
    weights = {"linear.weight": torch.eye(HIDDEN)[:3].clone()}
    if suffix == "safetensors":
        save_file(weights, folder / "2_Dense" / "model.safetensors")
    else:
        torch.save(weights, folder / "2_Dense" / "pytorch_model.bin")
    return folder


def test_a_dense_layer(copy: Copy, network: BertModel) -> None:
    loaded = load(with_dense(copy(), "safetensors"))
    assert loaded.dimensions == 3
    with torch.inference_mode():
        row = torch.tensor([[2, *ids("a b"), 3]])
        mean = network(row).last_hidden_state[0].mean(0)
    close(loaded.passages(["a b"])[0], unit(mean[:3]))


def test_vectors_that_the_folder_shortens(copy: Copy, network: BertModel) -> None:
    loaded = load(copy(config_sentence_transformers={"truncate_dim": 8}))
    assert loaded.dimensions == 8
    close(loaded.passages(["a b"])[0], unit(by_hand(network, "a b")[:8]))


def test_static_embeddings(folder: Path, tmp_path: Path) -> None:
    static = tmp_path / "static"
    static.mkdir()
    shutil.copy(folder / "tokenizer.json", static)
    table = torch.randn((len(WORDS), 4), generator=torch.Generator().manual_seed(7))
    save_file({"embedding.weight": table}, static / "model.safetensors")
    write(static / "modules.json", modules(("StaticEmbedding", "."), ("Normalize", "1_Normalize")))
    loaded = load(static)
    assert (loaded.dimensions, loaded.limit) == (4, sys.maxsize)
    long = " ".join(WORDS[5:21] * 20)
    vectors = loaded.passages(["a b", "", long, "d"])
    close(vectors[0], unit(table[ids("a b")].mean(0)))
    close(vectors[1], [1, 0, 0, 0])  # the model gives zeros
    close(vectors[2], unit(table[5:21].mean(0)))
    assert len(loaded.identity) == 64


def refusal(model: str | None, cache: Path) -> str:
    with pytest.raises(ModelError) as error:
        load_embedder(model, cache=cache, device="cpu")
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("asked", [None, "all-minilm-l6-v2"])
def test_a_catalogue_model_that_is_absent(asked: str | None, tmp_path: Path) -> None:
    assert "lgmgc models pull all-minilm-l6-v2" in refusal(asked, tmp_path / "cache")


def test_the_environment_names_the_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LGMGC_EMBEDDER", str(folder))
    assert load_embedder(cache=tmp_path, device="cpu").name == "tiny-embedder"
    assert "'elsewhere'" in refusal("elsewhere", tmp_path)  # what is asked for goes first


def test_names_that_are_no_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    assert "language model and embeds nothing" in refusal("smollm2-135m-instruct", tmp_path)
    for name in ("nonesuch", "someone/some-model"):
        message = refusal(name, tmp_path)
        assert message.startswith(f"no embedder {name!r}: it is no folder")
        assert "`lgmgc models pull NAME`, where NAME is all-minilm-l6-v2 or" in message


def test_a_hub_id_in_the_local_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    repository, commit = hub / "models--intfloat--e5-small-v2", "0123456789" * 4
    shutil.copytree(folder, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    loaded = load_embedder("intfloat/e5-small-v2", device="cpu")
    assert loaded.name == "intfloat/e5-small-v2"
    assert loaded.prefixes.query == "query: "


def test_a_language_models_folder(llama: Path, tmp_path: Path) -> None:
    assert "holds no modules.json; give a sentence-transformers" in refusal(str(llama), tmp_path)


def test_pickles_are_refused(copy: Copy, tmp_path: Path) -> None:
    root = copy("root")
    (root / "model.safetensors").rename(root / "pytorch_model.bin")
    dense = with_dense(copy("dense"), "bin")
    decoy = with_dense(copy("decoy"), "bin")
    save_file({"x": torch.zeros(1)}, decoy / "2_Dense" / "other.safetensors")
    for folder in (root, dense, decoy):
        assert "pickled ones (.bin) are refused" in refusal(str(folder), tmp_path)


def test_pickles_beside_safe_weights_are_not_opened(copy: Copy) -> None:
    folder = with_dense(copy(), "safetensors")
    for place in (folder, folder / "2_Dense"):
        (place / "pytorch_model.bin").write_bytes(b"not even a pickle")
    assert np.isfinite(load(folder).passages(["a"])).all()


@pytest.mark.parametrize(
    "kind", ["own.Own", "sentence_transformers.models.Router", "sentence_transformers_own.Pooling"]
)
def test_other_modules_are_refused(kind: str, copy: Copy, tmp_path: Path) -> None:
    folder = copy()
    listed = modules(("Transformer", ""), ("Pooling", "1_Pooling"))
    write(folder / "modules.json", [listed[0], listed[1] | {"type": kind}])
    for name in ("own.py", "sentence_transformers_own.py"):
        (folder / name).write_text("raise SystemExit('code of the folder was run')\n")
    assert f"is made by {kind}, which lgmgc does not open" in refusal(str(folder), tmp_path)


def test_code_of_the_folder_is_not_run(copy: Copy, tmp_path: Path) -> None:
    folder = copy(config={"model_type": "own", "auto_map": {"AutoModel": "own.Own"}})
    (folder / "own.py").write_text("raise SystemExit('code of the folder was run')\n")
    assert "cannot be loaded" in refusal(str(folder), tmp_path)


def test_damaged_folders(copy: Copy, tmp_path: Path) -> None:
    weights = copy("weights") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1_000])
    assert "cannot be loaded" in refusal(str(weights.parent), tmp_path)
    listing = copy("listing") / "modules.json"
    listing.write_text("{")
    assert "modules.json cannot be read" in refusal(str(listing.parent), tmp_path)
    listing.write_text('["?"]')
    assert "modules.json lists no modules" in refusal(str(listing.parent), tmp_path)
    adapter = copy("adapter", adapter_config={})
    assert "is an adapter" in refusal(str(adapter), tmp_path)


def test_weights_that_are_no_numbers(copy: Copy) -> None:
    folder = copy()
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][ID["a"]] = torch.nan
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    loaded = load(folder)
    assert np.isfinite(loaded.passages(["b"])).all()
    with pytest.raises(ModelError, match="vectors that are not finite"):
        loaded.passages(["b", "a"])


def test_loading_is_quiet(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(folder).passages(["a " * 100])
    assert capfd.readouterr() == ("", "")


def test_importing_is_light() -> None:
    code = "import lgmgc.lm.embedder, sys; print({'torch', 'transformers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
