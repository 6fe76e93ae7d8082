"""Keeping libraries off the network and off a user's terminal while a model is opened."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """No hub, no bars, no warnings; the settings are put back afterwards.

    Some libraries would ask the hub by themselves: bitsandbytes for kernels, where the package
    `kernels` is installed (law 6).
    """
    from huggingface_hub import constants
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    offline, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
