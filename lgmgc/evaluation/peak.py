"""The memory that a method needs, measured in a process of its own."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice, load_models
from lgmgc.document import Document
from lgmgc.errors import ModelError
from lgmgc.evaluation.experiment import Row


def peak_of(
    documents: Sequence[Document], settings: Settings, row: Row, choice: ModelChoice
) -> dict[str, float]:
    """Cut documents in a fresh process, without the cache of answers.

    Args:
        documents: are sent to it.
        settings: of the chunker.
        row: names the language model.
        choice: of the models.

    Returns:
        ``peak_bytes``: the largest resident set, with Python, libraries and models;
        ``loading_seconds``; ``alone_seconds``: cutting, without loading.

    Raises:
        ModelError: a model is not there, or the process was killed.
    """
    choice = replace(choice, model=row.model or choice.model)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        try:
            return process.submit(_measured, tuple(documents), settings, choice).result()
        except BrokenProcessPool:
            raise ModelError(
                f"the process that measures the memory of {row.label!r} was killed; a machine with "
                "more memory or a smaller model may do"
            ) from None


def _measured(
    documents: Sequence[Document], settings: Settings, choice: ModelChoice
) -> dict[str, float]:
    began = time.perf_counter()
    chunker = load_models(settings, choice).chunker(settings)
    loaded = time.perf_counter()
    for _ in chunker.chunk_many(documents):
        pass
    ended = time.perf_counter()
    return {
        "peak_bytes": _peak(),
        "loading_seconds": loaded - began,
        "alone_seconds": ended - loaded,
    }


def _peak() -> float:
    """The largest resident set of this process so far, in bytes.

    Linux hands ``ru_maxrss`` on from the process that started this one, so it is not asked there.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return float(line.split()[1]) * 1024
    except (OSError, ValueError):
        import resource  # Unix only

        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
