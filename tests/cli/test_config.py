"""lgmgc.toml, and what every command has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import run, start

TEXT = "One two three four. " * 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXT)
    return tmp_path


def words(out: bytes) -> list[int]:
    return [json.loads(line)["words"] for line in out.splitlines()]


def test_the_file_here_is_read_and_the_command_line_overrides_it(folder: Path) -> None:
    Path("lgmgc.toml").write_text('[chunk]\nmethod = "fixed"\ntheta = 40\n')
    assert words(run("chunk", "a.txt").out) == [40, 40]
    assert words(run("chunk", "a.txt", "--theta", "20").out) == [20] * 4


def test_defaults_are_for_every_command_that_has_the_option(folder: Path) -> None:
    Path("lgmgc.toml").write_text('[defaults]\ntheta = 40\n[chunk]\nmethod = "fixed"\n')
    assert words(run("chunk", "a.txt").out) == [40, 40]
    assert run("methods").status == 0


def test_another_file_is_read_in_place_of_the_one_here(folder: Path) -> None:
    Path("lgmgc.toml").write_text("[chunk]\ntheta = 1\n")
    Path("other.toml").write_text('[chunk]\nmethod = "fixed"\nbatch-tokens = 512\n')
    ran = run("--config", "other.toml", "chunk", "a.txt", "-v")
    assert words(ran.out) == [80]
    assert "options from other.toml" in ran.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[chunk]\nthta = 1\n", "`lgmgc chunk` has no option 'thta'"),
        ("[chnk]\ntheta = 1\n", "there is no command 'chnk'"),
        ("[eval.rum]\n", "there is no command 'eval rum'"),
        ("[defaults]\nthta = 1\n", "no command has the option 'thta'"),
        ("chunk = 1\n", "'chunk' must be a table"),
        ("[chunk\n", "is not TOML"),
    ],
)
def test_what_cannot_be_is_one_sentence_that_names_the_file(
    folder: Path, content: str, told: str
) -> None:
    Path("lgmgc.toml").write_text(content)
    ran = run("methods")
    assert ran.status == 2
    assert told in ran.err
    assert "lgmgc.toml" in ran.err
    assert "Traceback" not in ran.err


def test_a_file_that_is_not_there_is_told(folder: Path) -> None:
    ran = run("--config", "none.toml", "methods")
    assert (ran.status, "none.toml: cannot be read" in ran.err) == (2, True)


def test_quiet_says_nothing_but_errors(folder: Path) -> None:
    assert run("chunk", "a.txt", "--method", "fixed", "-q").err == ""
    assert "none.txt" in run("chunk", "none.txt", "--method", "fixed", "--quiet").err


def test_verbose_says_which_model_is_used(folder: Path) -> None:
    told = run("chunk", "a.txt", "--theta", "40", "-v").err
    assert "models: smollm2-135m-instruct in " in told
    assert "models: none" in run("chunk", "a.txt", "--method", "fixed", "-v").err


@pytest.mark.parametrize("command", ["methods", "chunk", "eval run", "models list", "report"])
def test_every_help_has_an_example_and_no_colour_where_none_is_wanted(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    help_text = run(*command.split(), "--help").out.decode()
    assert "Example: lgmgc" in help_text
    assert "\x1b[3" not in help_text


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = start("methods")
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate()
    assert err == b""
