"""What results were made with: machine, versions, models."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path
from typing import Any

from lgmgc.evaluation.models import ExperimentModels
from lgmgc.files.manifest import versions


def machine(models: ExperimentModels) -> dict[str, Any]:
    """Describe what an experiment ran on.

    Args:
        models: those that were asked for are named, with the sha256 of their weights; embedder is
            None where none was.
    """
    embedder = models.used_embedder
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "versions": versions(),
        "models": [
            {
                "name": model.loaded.name,
                "weights_sha256": model.loaded.weights_sha256(),
                "precision": model.loaded.precision,
                "device": model.loaded.device,
            }
            for model in models.used
        ],
        "embedder": embedder and {"name": embedder.name, "identity": embedder.identity},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
