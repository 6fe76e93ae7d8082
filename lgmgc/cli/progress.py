"""Progress on stderr, for people: nothing is drawn where stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from lgmgc.cli import messages
from lgmgc.cli.messages import one_line, say
from lgmgc.document import Document
from lgmgc.text.sizes import count_words


class Watch:
    """Shows documents done, words a second and the time left, and tells of failures.

    The bar measures bytes of files, which are known before anything is read.
    """

    def __init__(self, documents: int, size: int, *, rows_on_terminal: bool) -> None:
        """Prepare.

        Args:
            documents: how many there are to do.
            size: the bytes of all of them; those of standard input are added when it is read.
            rows_on_terminal: the rows themselves go to the terminal, where a bar would be in their
                way.
        """
        stderr_is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._shown = stderr_is_terminal and not rows_on_terminal and messages.level >= 0
        self._console = Console(stderr=True)
        self._documents = documents
        self._done = 0
        self._words = 0.0
        self._started = time.monotonic()
        self._open: dict[str, tuple[int, int]] = {}  # id to bytes and words
        self._progress = Progress(
            TextColumn("{task.fields[documents]}"),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not self._shown,
        )
        self._size = size
        self._task = self._progress.add_task("", total=size, documents="", speed="")

    def loading(self) -> AbstractContextManager[object]:
        """Show, meanwhile, that the model is being loaded."""
        quiet = Console(stderr=True, quiet=True)
        return (self._console if self._shown else quiet).status("loading the model")

    def __enter__(self) -> Self:
        """Begin to draw; the clock starts."""
        self._started = time.monotonic()
        self._progress.start()
        self._draw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the line."""
        self._progress.stop()

    def opened(self, document: Document, size: int) -> None:
        """Note a document that was read.

        Args:
            document: whose progress `advanced` will be told.
            size: its bytes as they were counted in the total; 0 where they were not.
        """
        if self._shown:
            if not size:
                size = len(document.text)
                self._size += size
                self._progress.update(self._task, total=self._size)
            self._open[document.id] = size, count_words(document.text)

    def advanced(self, document: Document, share: float) -> None:
        """Move on by a share, 0 to 1, of a document."""
        if self._shown:
            size, words = self._open[document.id]
            self._words += share * words
            self._progress.advance(self._task, share * size)
            self._draw()

    def finished(self, document: Document) -> None:
        """Count a document as done."""
        self._done += 1
        self._open.pop(document.id, None)
        self._draw()

    def shard(self, documents: int, words: int, size: int) -> None:
        """Count documents as done that another machine cut.

        Args:
            documents: without those that failed.
            words: of them.
            size: their bytes, and those of the ones that failed, as they were counted.
        """
        self._done += documents
        self._words += words
        self._progress.advance(self._task, size)
        self._draw()

    def failed(self, message: str, size: int) -> None:
        """Tell of a document that cannot be chunked, and count it as done.

        Args:
            message: begins with the document's id.
            size: its bytes as they were counted in the total.
        """
        self._done += 1
        if self._shown:
            # Above the bar, and as it is: not wrapped, not coloured, brackets are no markup.
            self._console.print(Text(f"lgmgc: {one_line(message)}"), soft_wrap=True)
            self._progress.advance(self._task, size)
            self._draw()
        else:
            say(message)

    def _draw(self) -> None:
        if self._shown:
            rate = self._words / max(1e-9, time.monotonic() - self._started)
            self._progress.update(
                self._task,
                documents=f"{self._done:,} of {self._documents:,} documents",
                speed=f"{rate:,.0f} words/s",
            )
