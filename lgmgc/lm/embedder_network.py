"""The network of an embedder: rows of token ids in, raw vectors out."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from lgmgc.errors import ModelError
from lgmgc.lm.embedder_folder import architecture_of
from lgmgc.lm.layout import padded
from lgmgc.lm.locate import Located
from lgmgc.lm.machine import avoid_plans
from lgmgc.lm.memory import telling_memory
from lgmgc.lm.onednn import lay_out
from lgmgc.lm.quiet import quiet
from lgmgc.lm.windows import TokenArray

_HALF = {"bert", "distilbert", "mpnet", "roberta", "xlm-roberta"}


class Network:
    """A sentence-transformers model that is handed tokens instead of texts.

    Attributes:
        tokenizer: without padding, truncation, and special tokens found in texts: a document must
            not be able to say that it ends.
        before: special ids at the beginning of every row.
        after: special ids at its end.
        longest: tokens that a row may have, special ones included; `sys.maxsize` where the model
            has no positions (static embeddings).
        dimensions: of a vector.
    """

    def __init__(self, model: SentenceTransformer) -> None:
        """Read off a model what rows must look like."""
        backend = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
        if not isinstance(backend, Tokenizer):
            raise ModelError("it has only a Python tokenizer; save it as tokenizer.json first")
        self.tokenizer = Tokenizer.from_str(backend.to_str())
        self.tokenizer.encode_special_tokens = True
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.before: list[int] = []
        self.after: list[int] = []
        self.longest = sys.maxsize
        self._model = model.eval()
        lay_out(model)
        self._transformer = getattr(model[0], "auto_model", None)
        if self._transformer is not None:
            sample = self.tokenizer.encode("a")
            text = sample.special_tokens_mask.index(0)
            end = text + sample.special_tokens_mask[text:].count(0)
            self.before, self.after = sample.ids[:text], sample.ids[end:]
            self.longest = _positions(model, self._transformer)
        self.dimensions = self([np.array(self.before + self.after, np.int32)], 0).shape[1]

    @torch.inference_mode()
    def __call__(self, rows: Sequence[TokenArray], prefix: int) -> NDArray[np.float32]:
        """Vectors as the model gives them, in one pass.

        Args:
            rows: ids, special ones included.
            prefix: ids at the beginning of every row that some models leave out of the mean.

        Returns:
            Shape (rows, dimensions), of any length; zeros for a row without ids.

        Raises:
            OutOfMemoryError: too large for the device.
        """
        device = self._model.device
        if self._transformer is None:
            starts = np.cumsum([0, *map(len, rows[:-1])])
            features = {"input_ids": np.concatenate(rows).astype(np.int64), "offsets": starts}
        else:
            layout = padded([row.astype(np.int64) for row in rows])
            mask = layout.positions < np.array(layout.lengths)[:, None]
            features = {"input_ids": layout.ids, "attention_mask": mask.astype(np.int64)}
        with telling_memory():
            tensors = {name: torch.from_numpy(v).to(device) for name, v in features.items()}
            out = self._model({**tensors, "modality": "text", "prompt_length": prefix})
            vectors = out["sentence_embedding"][:, : self._model.truncate_dim].float().cpu()
        result: NDArray[np.float32] = vectors.numpy()
        result[[len(row) == 0 for row in rows]] = 0
        return result


def open_network(located: Located, device: str) -> Network:
    """Open a folder that `lgmgc.lm.embedder_folder` has checked.

    In float32 on the CPU. On CUDA in float16 where the architecture is known to stay within its
    range, as it keeps eight times finer steps than bfloat16, which serves the others.

    Raises:
        ModelError: the folder is damaged or has code of its own.
    """
    # It says at every load which prompts and which version it has found.
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    dtype = torch.float32
    avoid_plans()
    if device == "cuda":
        dtype = torch.float16 if architecture_of(located.folder) in _HALF else torch.bfloat16
    try:
        with quiet():
            model = SentenceTransformer(
                str(located.folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True, "dtype": dtype},
            )
            return Network(model)
    except Exception as error:
        # Whatever transformers, safetensors or tokenizers stumble over in a damaged folder.
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{located.source} cannot be loaded ({reason})") from error


def _positions(model: SentenceTransformer, transformer: torch.nn.Module) -> int:
    longest = int(min(model.max_seq_length or sys.maxsize, sys.maxsize))
    for part in transformer.modules():
        table = getattr(part, "position_embeddings", None)
        if isinstance(table, torch.nn.Embedding):
            # RoBERTa and its kin count positions from behind the padding's.
            used = 0 if table.padding_idx is None else table.padding_idx + 1
            longest = min(longest, table.num_embeddings - used)
    # A tokenizer that knows no limit says 10**30; T5, say, has none and was taught on 512.
    return longest if longest < 10**9 else 512
