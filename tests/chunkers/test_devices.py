import pytest
import torch

from lgmgc.chunkers.devices import Place, places
from lgmgc.errors import UsageError


def gpu(name: str) -> Place:
    return Place("cuda", (("CUDA_VISIBLE_DEVICES", name),))


@pytest.fixture
def four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("four_gpus")
def test_gpus() -> None:
    assert places("all") == [gpu("0"), gpu("1"), gpu("2"), gpu("3")]
    assert places("3,1") == [gpu("3"), gpu("1")]


@pytest.mark.usefixtures("four_gpus")
def test_numbers_count_the_gpus_that_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7, GPU-5ac,2,1")
    assert places("1,2") == [gpu("GPU-5ac"), gpu("2")]
    assert [place.name for place in places("all")] == ["GPU 7", "GPU GPU-5ac", "GPU 2", "GPU 1"]


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ("4", "there is no GPU 4; the last is 3"),
        ("1,1", "names a GPU twice"),
        ("", "is none of"),
        ("gpu", "is none of"),
        ("cpu:0", "is none of"),
        ("cpu", "is none of"),
        ("1,", "is none of"),
    ],
)
def test_what_cannot_be(asked: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        places(asked)


def test_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(UsageError, match="no CUDA GPU is usable from this torch; cpu:2 would be"):
        places("all")


def test_the_cores_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(7)))
    assert places("cpu:3") == [Place("cpu", (("OMP_NUM_THREADS", "2"),))] * 3
    assert places("cpu:9")[0].environment == (("OMP_NUM_THREADS", "1"),)
