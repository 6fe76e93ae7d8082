"""The sections of scripts/bench_gpu. They need the repository, torch and transformers, nothing else."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _bring_lgmgc() -> None:
    """Make `lgmgc.lm` importable where the libraries that the rest of lgmgc needs are missing."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    try:
        importlib.import_module("lgmgc")
    except ImportError:
        package = types.ModuleType("lgmgc")  # without its __init__, which wants all of them
        package.__path__ = [str(ROOT / "lgmgc")]
        sys.modules["lgmgc"] = package
    try:
        importlib.import_module("platformdirs")
    except ImportError:
        stand_in = types.ModuleType("platformdirs")
        stand_in.user_cache_path = lambda name, **more: Path.home() / ".cache" / name  # type: ignore[attr-defined]
        sys.modules["platformdirs"] = stand_in


_bring_lgmgc()
