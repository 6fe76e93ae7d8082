"""Ray Data on a real Ray of this machine; in another process, for it opens sockets."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.document import Document
from lgmgc.files.rows import rows
from tests.fake import TEXTS

PROGRAM = """
import json, sys
from lgmgc import Settings
from lgmgc.integrations.ray import chunk_dataset
from lgmgc.integrations.ray_cluster import joined
import ray
documents = json.load(sys.stdin)
with joined("local"):
    dataset = ray.data.from_items(documents, override_num_blocks=2)
    found = chunk_dataset(dataset, settings=Settings("mg", 20), devices="cpu:2", batch_size=5)
    json.dump(found.take_all(), sys.stdout)
"""


def test_rows_are_those_of_one_process_and_what_fails_is_a_row() -> None:
    short = {name: text for name, text in TEXTS.items() if 0 < len(text) < 5_000}
    documents: list[Mapping[str, object]] = [
        *({"id": name, "text": text} for name, text in short.items()),
        {"id": None, "text": "One."},
        {"id": "none", "text": None},
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(documents),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout)
    errors = [(row["document"], row["error"]) for row in found if row["error"]]
    assert sorted(errors, key=str) == [
        ("none", "none: has no text; fill it in, or leave the row out"),
        (None, "a row has no id, which is a text or a whole number; give it one"),
    ]
    chunker = Chunker(Settings("mg", 20))
    for name, text in short.items():
        expected = [json.loads(row) for row in rows(chunker.chunk(Document(name, text)))]
        got = [row for row in found if row["document"] == name]
        for row in (*got, *expected):
            row.pop("error", None)
            row.pop("metadata")
        assert got == expected
