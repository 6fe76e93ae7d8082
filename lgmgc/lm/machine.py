"""What this machine offers, and what ``auto`` makes of it."""

from __future__ import annotations

import importlib
import logging

import torch

from lgmgc.errors import ModelError
from lgmgc.lm.quiet import quiet

DEVICES = ("auto", "cuda", "cpu")
PRECISIONS = ("auto", "int8", "int4", "bf16", "fp32")

_CPU_BATCH = 4_096
"""Tokens: more are no faster on the CPUs measured, see scripts/results/bench_scoring.md."""
_CUDA_BATCH = 16_384


def choose_device(asked: str) -> str:
    """``cuda`` or ``cpu``.

    Raises:
        ModelError: not one of `DEVICES`, or there is no such device.
    """
    if asked not in DEVICES:
        raise ModelError(f"device {asked!r} is none of {', '.join(DEVICES)}")
    if asked == "cuda" and not torch.cuda.is_available():
        raise ModelError("no CUDA GPU is usable from this torch; choose --device cpu or auto")
    return "cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu"


def choose_precision(asked: str, device: str) -> str:
    """One of `PRECISIONS` but ``auto``.

    On CUDA, auto is int8 through bitsandbytes, the method's reference set-up, or bf16 where
    bitsandbytes is missing. On a CPU it is bf16 where the processor multiplies bf16 itself, fp32
    otherwise.

    Raises:
        ModelError: unknown, or bitsandbytes is needed and missing.
    """
    if asked not in PRECISIONS:
        raise ModelError(f"precision {asked!r} is none of {', '.join(PRECISIONS)}")
    if asked in ("int8", "int4") and (missing := bitsandbytes_missing()):
        raise ModelError(f"precision {asked} needs bitsandbytes: {missing}")
    if asked != "auto":
        return asked
    if device == "cuda":
        return "bf16" if bitsandbytes_missing() else "int8"
    return "bf16" if multiplies_bf16() else "fp32"


def choose_batch(device: str) -> int:
    """Token places of a batch to begin with; halved when memory runs out."""
    return _CUDA_BATCH if device == "cuda" else _CPU_BATCH


def avoid_plans() -> None:
    """Keep torch from cuDNN's attention, which recent versions prefer on Hopper cards.

    cuDNN makes a plan for every new length, which takes it 20 to 400 ms (as others report), and
    windows have hundreds of lengths; a writer has a new one with every token. The other kernels
    take any length as it comes. Measured by scripts/bench_gpu, section attention.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)


def bitsandbytes_missing() -> str:
    """Why bitsandbytes cannot be used, with the remedy; empty where it can."""
    # It says on import that it found no kernels on a hub, which nobody asked it to look for.
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
    try:
        with quiet():
            importlib.import_module("bitsandbytes")
    except ImportError:
        return "install it with `pip install 'lgmgc[int8]'`"
    except Exception as error:  # its native library may not fit the driver, in any way
        return f"it is installed and cannot be loaded ({' '.join(str(error).split())[:120]})"
    return ""


def multiplies_bf16() -> bool:
    """Whether the CPU has matrix instructions for bf16 (AVX512-BF16, AMX, or Arm's)."""
    able = torch.cpu.get_capabilities()
    return any(able.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16", "arm_bf16"))
