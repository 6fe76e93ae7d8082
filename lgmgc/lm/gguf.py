"""GGUF files: dequantised once, kept as a folder that any loader opens quickly."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from pathlib import Path

from lgmgc.errors import ModelError
from lgmgc.lm.store import sha256_of

_SMALL = 2**30
"""Bytes of a GGUF file up to which float32 is kept; bf16 above, to spare the disk."""


def dequantised(gguf: Path, cache: Path) -> Path:
    """A folder with the file's weights as safetensors, its configuration and its tokenizer.

    Reading a GGUF file takes transformers longer than reading a short document takes the model, so
    the result is kept in the cache under the file's sha256.

    Args:
        gguf: the file.
        cache: the cache folder; made when it does not exist.

    Raises:
        ModelError: the file is no GGUF, is damaged, or holds an architecture that transformers
            does not read; or there is no room for the result.
    """
    folder = cache / "dequantised" / sha256_of(gguf)
    if folder.is_dir():
        return folder
    if gguf.stat().st_size < 4 or not _is_gguf(gguf):
        raise ModelError(f"{gguf} is not a GGUF file; give a .gguf file or a model folder")
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=folder.parent))
        _convert(gguf, temporary)
        temporary.rename(folder)
    except OSError as error:
        if folder.is_dir():  # another process was first
            return folder
        raise ModelError(f"{gguf} cannot be dequantised into {folder.parent}: {error}") from error
    except Exception as error:
        # transformers and gguf raise whatever their parsing stumbles over.
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelError(f"{gguf} is damaged or of an unknown architecture ({reason})") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"GGUF"


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from safetensors.torch import save_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    from lgmgc.lm.quiet import quiet

    dtype = torch.float32 if gguf.stat().st_size <= _SMALL else torch.bfloat16
    # gguf's bar takes no other no; what is redirected is only its and transformers' chatter.
    with quiet(), contextlib.redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name)
        model = AutoModelForCausalLM.from_pretrained(
            str(gguf.parent),
            gguf_file=gguf.name,
            # Without it, an installed `kernels` package may be asked for code from the network.
            quantization_config=GgufConfig(gguf_file=gguf.name, dequantize=True),
            dtype=dtype,
        )
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.save_pretrained(folder)
    if model.generation_config is not None:
        model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
