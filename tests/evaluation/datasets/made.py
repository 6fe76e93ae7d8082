"""Files as they are published, made by hand, and the laws that every benchmark keeps."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from lgmgc.evaluation.benchmark import Benchmark

SHARED = Path(__file__).parents[4] / "shared/data"


def shared(name: str) -> Path:
    """A real slice, which not every checkout has beside it."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path


def json_lines(path: Path, rows: Iterable[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def keeps_the_laws(benchmark: Benchmark) -> bool:
    texts = {document.id: document.text for document in benchmark.documents}
    assert len(texts) == len(benchmark.documents)
    assert len({question.id for question in benchmark.questions}) == len(benchmark.questions)
    for question in benchmark.questions:
        assert question.document in texts
        assert not question.evidence or question.evidence[0].document == question.document
        for evidence in question.evidence:
            if evidence.span:
                start, end = evidence.span
                assert 0 <= start < end <= len(texts[evidence.document])
                assert texts[evidence.document][start:end] == evidence.text
    assert benchmark.units.keys() == benchmark.boundaries.keys() <= texts.keys()
    for name, spans in benchmark.boundaries.items():
        units = benchmark.units[name]
        assert "".join(texts[name][start:end] for start, end in spans) == texts[name]
        assert all(left[1] == right[0] for left, right in pairwise(spans))
        assert all(start < end for start, end in spans)
        assert {end for _, end in spans} <= set(units)
        assert all(a < b for a, b in pairwise((0, *units)))
        assert max(units, default=0) == len(texts[name])
    return True
