"""The page in a real browser. Where there is none these tests are skipped, and say so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lgmgc.report.hits import hits_page
from tests.report.browser import Browser, needs_chromium
from tests.report.pages import EMMA, HOSTILE, book, page
from tests.report.test_hits import hit

pytestmark = needs_chromium

WORDS = "[...document.querySelectorAll('{} .words')].map(e => e.textContent).join('')"
FOCUSED = "document.activeElement.id"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def prose(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "prose.html"
    path.write_text(page(book(9000), beside=("recursive",)), encoding="utf-8", newline="")
    return path


def number(browser: Browser, selector: str) -> int:
    found: int = browser.evaluate(f"document.querySelectorAll({selector!r}).length")
    return found


def shown(browser: Browser, selector: str) -> bool:
    found: bool = browser.evaluate(f"!!document.querySelector({selector!r}).offsetParent")
    return found


def check_quiet(browser: Browser) -> None:
    assert browser.complaints == []
    assert browser.requests == []


def test_the_page_as_it_opens(browser: Browser, prose: Path) -> None:
    browser.open(prose)
    check_quiet(browser)
    parents = number(browser, "section.parent[id]")
    assert parents > 100
    assert number(browser, '.cut[data-of="0"]') == parents - 1 == number(browser, ".cut[id]")
    assert number(browser, '.cut[data-of="1"]') == number(browser, "section.parent:not([id])") - 1
    assert number(browser, "nav li") == parents
    assert browser.evaluate("document.querySelector('.plot .dot').getAttribute('d')").count(
        "M"
    ) == (parents - 1)
    assert browser.evaluate(WORDS.format("main .cell:nth-child(1)")) == book(9000)
    assert browser.evaluate(WORDS.format("main .cell:nth-child(2)")) == book(9000)
    assert not shown(browser, "#quiz")


def test_the_keyboard_goes_from_cut_to_cut(browser: Browser, prose: Path) -> None:
    browser.open(prose)
    for key, focused in (
        ("j", "c1"), ("n", "c2"), ("ArrowRight", "c3"), ("k", "c2"), ("p", "c1"),
        ("ArrowLeft", "c1"), ("x", "c1"), ("j", "c2"),
    ):  # fmt: skip
        browser.press(key)
        assert browser.evaluate(FOCUSED) == focused
    for _ in range(30):
        browser.press("j")
    assert browser.evaluate(FOCUSED) == "c32"
    place = "const b = document.activeElement.getBoundingClientRect(); b.top > 0 && b.bottom < 400"
    assert browser.evaluate(f"(() => {{ {place.replace('; b', '; return b')} }})()")
    assert settled(browser, "document.querySelector('nav [aria-current]').hash", "#p33") == "#p33"
    # From wherever the reader has gone by other means.
    browser.evaluate(
        "document.activeElement.blur(); document.getElementById('p70').scrollIntoView()"
    )
    assert settled(browser, "document.querySelector('nav [aria-current]').hash", "#p70") == "#p70"
    browser.press("j")
    assert browser.evaluate(FOCUSED) == "c70"
    check_quiet(browser)


def settled(browser: Browser, expression: str, wanted: object) -> Any:
    """The value once it is as wanted: what follows scrolling waits for the next frame."""
    for _ in range(200):
        if (value := browser.evaluate(expression)) == wanted:
            break
        time.sleep(0.05)
    return value


def test_dark_by_preference_and_by_button(browser: Browser, prose: Path) -> None:
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light, dark = "rgb(252, 251, 248)", "rgb(22, 23, 26)"
    browser.open(prose)
    assert browser.evaluate(paper) == light
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(paper) == dark
    browser.open(prose, dark=True)
    assert browser.evaluate(paper) == dark
    assert browser.evaluate("document.getElementById('theme').textContent") == "Light"
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(paper) == light
    check_quiet(browser)


def test_the_score_under_the_pointer(browser: Browser, prose: Path) -> None:
    browser.open(prose)
    place = "document.querySelector('.plot svg').getBoundingClientRect()"
    box = browser.evaluate(f"(({{x, y, width}}) => [x, y, width])({place})")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] / 2, y=box[1] + 9)
    said = browser.evaluate("document.getElementById('readout').textContent")
    assert said.startswith("log p([EOS]) −")
    middle = int(said.split(" at character ")[1].split(", ")[0].replace(",", ""))
    assert abs(middle - len(book(9000)) / 2) < 200


def test_the_quiz_tells_afterwards(browser: Browser, prose: Path) -> None:
    browser.open(prose)
    browser.evaluate("document.getElementById('mode').click()")
    assert shown(browser, "#quiz")
    assert not shown(browser, "#text")
    assert number(browser, ".round") == 4
    assert number(browser, ".round:nth-of-type(1) .choice") == 3
    assert not shown(browser, ".choice details")
    chosen = browser.evaluate("document.querySelector('.choice').dataset.name")
    browser.evaluate("document.querySelector('.choice button').click()")
    assert shown(browser, ".choice details")
    assert not shown(browser, ".round:nth-of-type(2) details")
    assert browser.evaluate("document.getElementById('tally').textContent") == (
        f"Chosen so far: {chosen} 1."
    )
    browser.evaluate("document.getElementById('mode').click()")
    assert shown(browser, "#text")
    check_quiet(browser)


def test_without_scripts_all_is_there(browser: Browser, prose: Path) -> None:
    browser.open(prose, scripts=False)
    check_quiet(browser)
    for selector in ("#text", "#quiz", "nav", ".choice summary"):
        assert shown(browser, selector)
    assert browser.evaluate("document.querySelector('.plot .line').getBBox().width") > 900
    tints = (
        "[...document.querySelectorAll('.parent')].map(e => getComputedStyle(e).backgroundColor)"
    )
    assert browser.evaluate(f"new Set({tints}).size") == 2
    assert not shown(browser, "#theme")


def test_markup_in_a_document_is_text(browser: Browser, tmp_path: Path) -> None:
    tags = (
        "[...new Set([...document.querySelectorAll('*')].map(e => e.localName))].sort().join(' ')"
    )
    found = []
    for name, text in (("hostile", HOSTILE), ("plain", book(900))):
        path = tmp_path / f"{name}.html"
        path.write_text(page(text, 40), encoding="utf-8", newline="")
        browser.open(path)
        check_quiet(browser)
        found.append(browser.evaluate(tags))
        assert browser.evaluate(WORDS.format("main")) == text
        assert browser.evaluate("document.title") == "0 – chunks"
        assert number(browser, "script") == number(browser, "style") == 1
    assert found[0] == found[1]


def test_hits(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hits.html"
    path.write_text(
        hits_page([(HOSTILE[:90], [hit(15, 29)])], index="x.db", mode="lexical"), "utf-8"
    )
    browser.open(path)
    check_quiet(browser)
    assert browser.evaluate("document.querySelector('article mark').textContent") == "Three four."
    assert browser.evaluate("document.querySelector('.query h2').textContent") == HOSTILE[:90]
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("name", ["synthetic", "emma"])
def test_a_megabyte_opens_at_once(browser: Browser, tmp_path: Path, name: str) -> None:
    if name == "emma" and not EMMA.exists():
        pytest.skip(f"{EMMA} is not here")
    text = EMMA.read_text(encoding="utf-8") if name == "emma" else book(190_000)
    text = (text * 2)[:1_000_000]
    path = tmp_path / "book.html"
    path.write_text(page(text, 300), encoding="utf-8", newline="")
    browser.open(path)
    check_quiet(browser)
    parents = number(browser, "section.parent[id]")
    assert number(browser, ".cut[id]") == parents - 1 > 600
    assert browser.evaluate(WORDS.format("main")) == text
    # 0.5 s on two slow cores; the bound leaves room for a machine that does other things.
    took = "performance.timing.loadEventEnd - performance.timing.navigationStart"
    assert settled(browser, f"{took} > 0", True)
    assert browser.evaluate(took) < 5_000
    browser.press("j")
    assert browser.evaluate(FOCUSED) == "c1"
