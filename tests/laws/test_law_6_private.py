"""Law 6: nothing but `lgmgc models pull` opens a socket, and nothing that reports home is there."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_socket import SocketBlockedError

PACKAGE = Path(__file__).parents[2] / "lgmgc"


def test_the_suite_runs_with_the_network_closed() -> None:
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def test_import_is_light() -> None:
    code = "import lgmgc, sys; print({'torch', 'transformers'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"


def test_only_wheels_can_reach_the_network() -> None:
    # pip in a child process is the one way out; libraries are told to stay local.
    network = re.compile(r"import (requests|urllib|httpx|socket|http)\b|from (urllib|http)\b")
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        assert not network.search(text), file
        if file.name != "wheels.py":
            assert "pip" not in re.findall(r'"(pip)"', text), file
        loads = text.count(".from_pretrained(") - text.count("cls.from_pretrained(")
        if "transformers" in text and loads and file.name not in ("gguf.py", "__init__.py"):
            assert "local_files_only=True" in text, file
