import subprocess
import sys
from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.datasets import BENCHMARKS, load_benchmark


def test_every_benchmark_says_what_it_expects() -> None:
    assert list(BENCHMARKS) == [
        "gutenqa", "chapters", "longbench", "chroma", "qmsum", "choi", "boundaries", "own",
    ]  # fmt: skip
    for known in BENCHMARKS.values():
        assert known.description
        assert "\n" not in known.description + known.layout


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_data_that_is_not_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / "absent"
    with pytest.raises(UsageError) as error:
        load_benchmark(name, path)
    layout = BENCHMARKS[name].layout
    assert str(error.value) == f"{path}: no such file or folder; {name} is read from {layout}"


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_data_of_the_wrong_kind(tmp_path: Path, name: str) -> None:
    """A file where a folder is expected, and a folder where a file is."""
    file = tmp_path / "x.txt"
    file.touch()
    for data in (file, tmp_path):
        with pytest.raises(UsageError, match=str(data)):
            load_benchmark(name, data)


def test_what_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no benchmark is called 'x'; there are gutenqa, "):
        load_benchmark("x", tmp_path)
    with pytest.raises(UsageError, match="the benchmark choi has no books to choose"):
        load_benchmark("choi", tmp_path, books=["Emma"])
    with pytest.raises(UsageError, match="a limit of 0 leaves nothing of choi"):
        load_benchmark("choi", tmp_path, limit=0)


def test_no_heavy_library_is_imported() -> None:
    code = (
        "import sys, lgmgc.evaluation.datasets; print([n for n in ('torch', 'pyarrow') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
