"""Running out of a device's memory, told in one way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from lgmgc.lm.windows import OutOfMemoryError


@contextmanager
def telling_memory() -> Iterator[None]:
    """Raise `OutOfMemoryError` where memory ran out; torch has a class for it on CUDA only."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or "can't allocate" in str(error):
            raise OutOfMemoryError(str(error)) from None
        raise
