"""Law 2 in the real model's tokens, on text whose tokens do not add up."""

from __future__ import annotations

import pytest

from lgmgc import Chunker, Settings
from tests.fake import TEXTS
from tests.real.conftest import Load


@pytest.mark.parametrize("name", ["CRLF", "Markdown", "joiners and emoji families", "CJK"])
@pytest.mark.parametrize("method", ["lgmgc", "mg"])
def test_no_chunk_exceeds_its_limit_in_tokens(load: Load, name: str, method: str) -> None:
    scorer = load(precision="bf16").scorer
    text = TEXTS[name][:1_500]
    tree = Chunker(Settings(method, theta=64, unit="tokens"), scorer).chunk(text)
    assert "".join(parent.text for parent in tree.parents) == text
    for piece in tree:
        [ids] = scorer.encode([piece.text])
        assert len(ids) <= (64, 32, 16)[piece.level], piece.text
