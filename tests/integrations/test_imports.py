"""Frameworks are imported by their adapters alone; one that is absent is a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

ADAPTERS = {
    "langchain": ("LangChain", ["langchain_core", "langchain_text_splitters"], "lgmgc[langchain]"),
    "llama_index": ("LlamaIndex", ["llama_index"], "lgmgc[llama-index]"),
    "haystack": ("Haystack", ["haystack"], "lgmgc[haystack]"),
    "chonkie": ("Chonkie", ["chonkie"], "chonkie"),
    "ray": ("Ray Data", ["ray"], "lgmgc[ray]"),
}
FRAMEWORKS = [package for _, packages, _ in ADAPTERS.values() for package in packages]


def run(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_lgmgc_imports_none() -> None:
    assert all(find_spec(name) for name in FRAMEWORKS)
    code = f"""
import json, sys, lgmgc, lgmgc.cli.app, lgmgc.integrations.common
print(json.dumps(sorted(sys.modules.keys() & {set(FRAMEWORKS)} | sys.modules.keys() & {{'torch'}})))
"""
    assert run(code) == []


def test_an_absent_one_is_one_sentence() -> None:
    code = f"""
import importlib, json, sys
from lgmgc import UsageError
sys.modules.update(dict.fromkeys({FRAMEWORKS}))
said = []
for name in {list(ADAPTERS)}:
    try:
        importlib.import_module("lgmgc.integrations." + name)
    except ImportError as error:
        assert isinstance(error, UsageError)
        said.append(str(error))
print(json.dumps(said))
"""
    said = run(code)
    assert isinstance(said, list)
    for sentence, (framework, _, package) in zip(said, ADAPTERS.values(), strict=True):
        assert sentence.startswith(f"{framework} cannot be imported (")
        assert sentence.endswith(f"; install it with `pip install '{package}'`")
        assert "\n" not in sentence


def test_importing_the_adapters_reaches_no_network() -> None:
    # Nor does it import what would download: llama-index can use tiktoken and nltk.
    code = f"""
import importlib, json, os, socket, sys, tests.integrations.conftest
def refuse(*arguments, **more):
    raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
for name in {list(ADAPTERS)}:
    importlib.import_module("lgmgc.integrations." + name)
print(json.dumps(sorted(sys.modules.keys() & {{"tiktoken", "nltk"}})))
"""
    assert run(code) == []
