"""A commercial product is entered on a phone-wide page without a pointer."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.e2e.keyboard import fill_in
from tests.e2e.people import Person
from tests.e2e.stage import MEMORY_KEY, Stage

pytestmark = [pytest.mark.browser, pytest.mark.celery, pytest.mark.postgres]
WIDTH = 360

Met = list[dict[str, Any]]


@pytest.fixture(scope="module")
def typist(stage: Stage, chromium: Browser) -> Person:
    """Approved in the commercial division, at the empty form."""
    email = stage.ground("participant", "Tess", "commercial")["email"]
    person = Person(chromium, stage, viewport={"width": WIDTH, "height": 740}).log_in(email)
    person.open("/evaluation/entries/new/")
    return person


@pytest.fixture(scope="module")
def met(typist: Person) -> Met:
    """What had the focus while the form was filled in and sent."""
    memory = "https://memory.example.com"
    values = {
        "name": "Typed memory", "description": "Entered by keyboard.", "tracks": "textual coding",
        "label": "2026.11", "add_url": f"{memory}/add", "search_url": f"{memory}/search",
        "auth_scheme": "x-api-key", "memory_key": MEMORY_KEY, "add_concurrency": "4", "search_concurrency": "8",
        "runtime_environment": "not disclosed", "models_and_dependencies": "none",
        "documentation": f"{memory}/docs", "product_version": "2026.11", "capacity_statement": "Four at once.",
        "contact": "tess@example.org", "public_fields": "organisation",
    }  # fmt: skip
    found = fill_in(typist.page, values, button="Enter the system")
    typist.arrive("entries")
    return found


def test_the_system_is_entered(typist: Person, met: Met) -> None:
    assert met
    query = """
        SELECT product_version, auth_scheme, add_concurrency, public_fields FROM registration_version version
        JOIN registration_entry entry ON entry.id = entry_id WHERE entry.name = 'Typed memory'
    """
    assert typist.stage.sql(query) == [("2026.11", "x-api-key", 4, ["organisation"])]


def test_the_open_source_divisions_fields_are_not_asked(met: Met) -> None:
    names = {one["name"] for one in met}
    assert "capacity_statement" in names
    assert not names & {"repository", "commit", "licence", "original_authors"}


def test_whatever_has_the_focus_shows_it(met: Met) -> None:
    assert [one for one in met if not one["outlined"]] == []


def test_whatever_has_the_focus_is_within_the_screen(met: Met) -> None:
    outside = [one for one in met if one["tag"] != "body" and (one["left"] < 0 or one["right"] > WIDTH)]
    assert outside == []


def test_nothing_takes_the_focus_twice(met: Met) -> None:
    fields = [(one["name"], one["value"]) for one in met if one["name"]]
    assert len(fields) == len(set(fields))
