"""`lgmgc doctor`: what this machine offers and what ``auto`` makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def doctor(
    cache: Annotated[Path | None, typer.Option("--cache", help="Where models are kept.")] = None,
) -> None:
    """Show GPU, CPU, bitsandbytes and models, and the precision and batch that auto would choose.

    Example: lgmgc doctor
    """
    import torch  # slow: only when asked

    from lgmgc.lm import machine
    from lgmgc.lm.catalogue import CATALOGUE
    from lgmgc.lm.store import default_cache, is_present

    place = cache or default_cache()
    device = machine.choose_device("auto")
    able = torch.cpu.get_capabilities()
    tricks = [name for name in ("amx_bf16", "avx512_bf16", "avx512_vnni", "amx_int8", "avx2")
              if able.get(name)]  # fmt: skip
    rows = [
        ("GPU", _gpus()),
        ("CPU", f"{able.get('cpu_name', 'unknown')}, {torch.get_num_threads()} threads"),
        ("CPU instructions", ", ".join(tricks) or "none that help"),
        ("torch", torch.__version__),
        ("bitsandbytes", machine.bitsandbytes_missing() or _version("bitsandbytes")),
        ("models here", ", ".join(n for n, m in CATALOGUE.items() if is_present(m, place)) or
         "none; `lgmgc models pull smollm2-135m-instruct`"),
        ("cache", str(place)),
        ("auto chooses", f"{device}, {machine.choose_precision('auto', device)}, "
                         f"batches of {machine.choose_batch(device)} tokens"),
    ]  # fmt: skip
    table = Table(box=None, show_header=False, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a pipe has no width: one line a row, for grep
    console.print(table)


def _gpus() -> str:
    import torch

    if not torch.cuda.is_available():
        built = torch.version.cuda
        return "none" + ("" if built else " usable: this torch is built without CUDA")
    cards = []
    for k in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(k)
        name = torch.cuda.get_device_name(k)
        cards.append(f"{name}, {free / 2**30:.0f} of {total / 2**30:.0f} GiB free")
    return "; ".join(cards)


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
