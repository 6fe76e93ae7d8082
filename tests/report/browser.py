"""Headless Chromium, driven by the DevTools protocol over a pipe: no socket is opened."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed here")

_FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-sync",
    "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--hide-scrollbars",
)  # fmt: skip


class Browser:
    """One page at a time, with everything it complained about or asked the network for.

    Attributes:
        complaints: console messages, exceptions and log entries (a violated policy is one).
        requests: addresses asked for, without the page's own.
    """

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        assert CHROMIUM is not None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._buffer = b""
        self._number = 0
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read, self._to = os.pipe()
        self._from, write = os.pipe()
        # High numbers, so that neither is the 3 or 4 that Chromium expects.
        high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 30) for descriptor in (read, write)]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]}', CHROMIUM, *_FLAGS,
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"],
            pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for descriptor in (read, write, *high):
            os.close(descriptor)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._to)  # Chromium ends with its pipe
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._profile.cleanup()

    def open(self, page: Path, *, dark: bool = False, scripts: bool = True) -> None:
        """Load a file and wait until it is there."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.complaints, self.requests, self._events = [], [], []
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._events.append(self._receive())
        self._sort(page.resolve().as_uri())

    def evaluate(self, expression: str) -> Any:
        """The value of some JavaScript, run beside the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)  # fmt: skip
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key down and up, as from a keyboard."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self._sort("")

    def screenshot(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send one command and wait for its answer; events on the way are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            got = self._receive()
            if got.get("id") == self._number:
                assert "error" not in got, got
                answer: dict[str, Any] = got["result"]
                return answer
            self._events.append(got)

    def _receive(self, timeout: float = 60) -> dict[str, Any]:
        until = time.monotonic() + timeout
        while b"\0" not in self._buffer:
            ready = select.select([self._from], [], [], max(0, until - time.monotonic()))[0]
            data = os.read(self._from, 1 << 20) if ready else b""
            assert data, "Chromium has ended or does not answer"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _sort(self, own: str) -> None:
        for event in self._events:
            parameters = event.get("params", {})
            if event["method"] in (
                "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"
            ):  # fmt: skip
                self.complaints.append(json.dumps(parameters))
            if event["method"] == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if url != own:
                    self.requests.append(url)
        self._events = []
