import os
from pathlib import Path
from typing import Any

import pytest

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.chunkers.options import Options
from lgmgc.document import Document
from lgmgc.errors import DocumentError, ModelError
from lgmgc.evaluation.experiment import Row
from lgmgc.evaluation.peak import peak_of


def test_a_method_in_a_process_of_its_own() -> None:
    settings = Settings("recursive")
    text = "One two. Three four.\n\n" * 5_000
    weight = bytearray(2**30)  # of this process; the other one does not inherit it
    weight[:: 2**12] = b"x" * 2**18
    found = peak_of([Document("d", text)], settings, Row("r", settings), ModelChoice())
    assert set(found) == {"peak_bytes", "loading_seconds", "alone_seconds"}
    # Python with numpy and the sentence splitter, without torch.
    assert 2**25 < found["peak_bytes"] < 2**30
    assert found["alone_seconds"] > found["loading_seconds"] >= 0


def test_what_fails_there_is_told_as_in_this_process(tmp_path: Path) -> None:
    spans = tmp_path / "spans.jsonl"
    spans.write_text('{"document": "other", "start": 0, "end": 1}\n')
    settings = Settings("manual", options=Options(boundaries=spans))
    with pytest.raises(DocumentError, match=r"^d: has no rows in "):
        peak_of([Document("d", "One.")], settings, Row("m", settings), ModelChoice())


class Deadly:
    """What ends the process that it is sent to, as a system without memory does."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (9,)


def test_a_process_that_is_killed_is_one_sentence() -> None:
    settings = Settings("recursive")
    documents: Any = [Deadly()]
    with pytest.raises(ModelError, match=r"^the process that measures .* 'r' was killed"):
        peak_of(documents, settings, Row("r", settings), ModelChoice())
