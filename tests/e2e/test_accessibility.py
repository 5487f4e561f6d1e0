"""axe on the pages of the whole way, light and dark; and 360 px without sideways scrolling."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from aml.pages.demo.seed import REVIEWERS
from tests.e2e.axe import violations
from tests.e2e.browser_way import BOARD, BrowserWay
from tests.e2e.people import Person

pytestmark = [pytest.mark.browser, pytest.mark.celery, pytest.mark.postgres]

OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


def at(path: str) -> Callable[[BrowserWay], str]:
    return lambda way: path


def seen(name: str) -> Callable[[BrowserWay], str]:
    """A page that the way came past."""
    return lambda way: way.paths[name]


def full_confirmation(way: BrowserWay) -> str:
    return f"/evaluation/versions/{way.paths['version'].split('/')[-2]}/full/"


PUBLIC = {
    "home": at("/"),
    "board": at(BOARD),
    "board in Chinese": at(f"/zh-hans{BOARD}"),
    "boards": at("/leaderboard/"),
    "system": seen("system"),
    "rules": at("/rules/"),
    "API guide": at("/api-guide/"),
    "benchmarks": at("/benchmarks/"),
    "status": at("/status/"),
    "audit": at("/audit/"),
    "sign-up": at("/accounts/signup/"),
    "sign-in": at("/accounts/login/"),
}
OWN = {
    "desk": at("/evaluation/"),
    "entry form": at("/evaluation/entries/new/"),
    "version": seen("version"),
    "keys": at("/evaluation/keys/"),
    "check report": seen("check"),
    "Smoke": seen("smoke"),
    "exchanges": seen("exchanges"),
    "run": seen("full"),
    "Full confirmation": full_confirmation,
}
REVIEWER = {"queue": at("/review/?status=all"), "case": seen("case 1")}


@pytest.fixture(scope="module")
def reviewer(browser_way: BrowserWay, chromium: Browser) -> Person:
    return Person(chromium, browser_way.stage).log_in(REVIEWERS[0])


def problems(person: Person, path: str) -> list[str]:
    """Of one page: what axe finds in light and dark, and how far a narrow one scrolls sideways."""
    page = person.page
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # a plain dict of its two numbers
    assert person.open(path) == 200
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}: {one}" for one in violations(page)]
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    if (wider := page.evaluate(OVERFLOW)) > 0:
        found.append(f"{path} is {wider} px wider than {NARROW['width']} px")
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_public_pages_have_no_barriers(browser_way: BrowserWay, name: str) -> None:
    assert problems(browser_way.visitor, PUBLIC[name](browser_way)) == []


@pytest.mark.parametrize("name", OWN)
def test_a_participants_pages_have_no_barriers(browser_way: BrowserWay, name: str) -> None:
    assert problems(browser_way.stranger, OWN[name](browser_way)) == []


@pytest.mark.parametrize("name", REVIEWER)
def test_a_reviewers_pages_have_no_barriers(browser_way: BrowserWay, reviewer: Person, name: str) -> None:
    assert problems(reviewer, REVIEWER[name](browser_way)) == []


@pytest.mark.parametrize("name", ["entry form", "full confirmation", "case"])
def test_forms_have_no_barriers_while_somebody_fills_them_in(browser_way: BrowserWay, name: str) -> None:
    assert browser_way.barriers[name] == []
