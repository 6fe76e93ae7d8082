"""An end to parsers that a hostile file makes run for hours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(BaseException):
    """Time is up; no `Exception`, so that no library takes it for a fault that it can pass over."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Interrupt what runs within, where it runs Python in the main thread of a Unix.

    Elsewhere, and while a library runs C code, there is no limit.

    Raises:
        TooLong: the time is up.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        yield
        return

    def end(number: int, frame: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
