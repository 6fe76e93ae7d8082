import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("answers", 3),
        ("budget", 3),
        ("characters", 4),
        ("ranking", 3),
        ("relevance", 7),
        ("segmentation", 2),
        ("sizes", 1),
        ("statistics", 3),
    ],
)
def test_the_worked_examples(name: str, least: int) -> None:
    done = doctest.testmod(import_module(f"lgmgc.evaluation.measures.{name}"))
    assert done.attempted >= least
    assert done.failed == 0
