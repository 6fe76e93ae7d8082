"""Tiny wheels in a folder that is pip's only index: a real `pip download` with the network shut."""

import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest


def close_index(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let pip see the wheels in `folder` and nothing else, however this machine sets pip."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def make_wheel(folder: Path, package: str, members: dict[str, bytes]) -> Path:
    """Write version 1.0 of a package with these members, well enough formed for pip."""
    folder.mkdir(exist_ok=True)
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    path = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in members.items():
            wheel.writestr(name, content)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


def sum_of(content: bytes) -> str:
    return sha256(content).hexdigest()
