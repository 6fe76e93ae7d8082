"""Law 6: no telemetry in the dependency tree, but for what a user of Haystack has anyway."""

from __future__ import annotations

import runpy
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

check = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "check_telemetry"))


def paths(*extras: str) -> list[str]:
    return [" > ".join(path) for path in check["paths_to_telemetry"](extras)]


def test_the_base_install_has_none() -> None:
    assert paths() == []


@pytest.mark.parametrize("extra", [x for x in check["extras"]() if x not in check["EXEMPT"]])
def test_an_extra_has_none(extra: str) -> None:
    assert paths(extra) == []


def test_what_is_exempt_is_haystack_and_nothing_else() -> None:
    # haystack-ai reports on pipelines to its makers, and whoever takes this extra has it anyway.
    # If it stops to bring posthog, take it out of EXEMPT.
    assert set(check["EXEMPT"]) == {"haystack", "dev"}
    assert paths("haystack") == ["lgmgc > haystack-ai > posthog"]
    assert paths("dev") == paths("haystack")


@pytest.mark.parametrize(
    ("name", "reports"),
    [
        ("posthog", True),
        ("scarf", True),
        ("sentry-sdk", True),
        ("segment-analytics-python", True),
        ("analytics-python", True),
        ("opentelemetry-exporter-otlp-proto-http", True),
        ("opentelemetry-api", False),  # sends nothing without an exporter
        ("segments", False),
    ],
)
def test_what_reports_home(name: str, reports: bool) -> None:
    assert bool(check["TELEMETRY"].fullmatch(name)) == reports


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> list[str]:
        if name == "ranx":
            raise PackageNotFoundError(name)
        return ["ranx>=1"] if name == "rouge-score" else []

    monkeypatch.setitem(check["_requirements"].__globals__, "requires", requires)
    with pytest.raises(LookupError, match="lgmgc > rouge-score > ranx: is not installed"):
        paths("eval")
