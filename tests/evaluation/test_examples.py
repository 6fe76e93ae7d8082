import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("name", "least"),
    [("cutting", 1), ("kinds", 3), ("run", 2), ("segmenting", 1), ("tables", 1)],
)
def test_the_worked_examples(name: str, least: int) -> None:
    done = doctest.testmod(import_module(f"lgmgc.evaluation.{name}"))
    assert done.attempted >= least
    assert done.failed == 0
