from pathlib import Path

import pytest

from lgmgc.errors import DocumentError, UsageError
from lgmgc.evaluation.datasets import load_benchmark
from tests.evaluation.datasets.made import keeps_the_laws, shared

LINE = "==========\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_two_files_by_hand(tmp_path: Path) -> None:
    write(tmp_path / "4/3-5/0.ref", f"{LINE}One . \nTwo . \n{LINE}{LINE}Three . \n{LINE}")
    write(tmp_path / "1/3-5/0.ref", f"A .\n{LINE}B .")
    benchmark = load_benchmark("choi", tmp_path)
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "parts 1 and 4 of Choi: 2 of 920 documents"
    assert {each.id: each.text for each in benchmark.documents} == {
        "1/3-5/0": "A . B .",
        "4/3-5/0": "One . Two . Three .",
    }
    assert benchmark.boundaries == {"1/3-5/0": ((0, 4), (4, 7)), "4/3-5/0": ((0, 12), (12, 19))}
    assert benchmark.units == {"1/3-5/0": (4, 7), "4/3-5/0": (6, 12, 19)}
    first = load_benchmark("choi", tmp_path, limit=1)
    assert keeps_the_laws(first)
    assert first.boundaries.keys() == {"1/3-5/0"}
    assert first.title == "parts 1 and 4 of Choi: 2 of 920 documents; the first 1 document"
    for folder in ("4", "4/3-5"):
        part = load_benchmark("choi", tmp_path / folder)
        assert part.title == "part 4 of Choi: 1 of 920 documents"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("One .\nTwo .\n", "needs lines of ========== between segments"),
        (f"{LINE}\n{LINE}", "needs sentences between the lines of =========="),
    ],
)
def test_malformed_files(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "0.ref", text)
    with pytest.raises(DocumentError) as error:
        load_benchmark("choi", tmp_path)
    assert str(error.value) == f"{path}: {message}"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not a folder with \.ref files in it"):
        load_benchmark("choi", tmp_path)


def test_part_4() -> None:
    benchmark = load_benchmark("choi", shared("choi"))
    assert keeps_the_laws(benchmark)
    assert benchmark.title == "part 4 of Choi: 220 of 920 documents"
    counts = [len(spans) for spans in benchmark.boundaries.values()]
    # Ten segments each, but 14 files have one without a sentence.
    assert (counts.count(10), counts.count(9)) == (206, 14)
