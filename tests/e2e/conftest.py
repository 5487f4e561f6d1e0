"""One stage for all tests of this folder, and the two ways that are walked on it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from django.db import connection
from playwright.sync_api import Browser, sync_playwright

from tests.e2e import stage as stages
from tests.e2e.api_way import ApiWay
from tests.e2e.browser_way import BrowserWay
from tests.e2e.people import executable
from tests.e2e.stage import Stage

#: Tests that use this process's own database come before a browser: while Playwright's event loop runs in
#: this thread, Django refuses queries.
WALK_SECONDS = 400
ORDER = (
    "test_wrong_input", "test_demo", "test_api_way", "test_browser_way", "test_keyboard", "test_accessibility",
    "test_secrets",
)  # fmt: skip


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """This folder's tests at the end and together, so that the stage is built once, whatever the shuffling."""
    items.sort(key=_place)
    for item in filter(_place, items):
        item.add_marker(pytest.mark.timeout(WALK_SECONDS))  # the first test of a way pays for all of it


def _place(item: pytest.Item) -> int:
    _before, found, name = item.nodeid.partition("tests/e2e/")
    return 1 + ORDER.index(name.partition(".")[0]) if found else 0


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    database, redis = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
    if connection.vendor != "postgresql" or not redis:
        pytest.skip("needs DATABASE_URL of a PostgreSQL server and REDIS_URL, as `make test` sets them")
    with stages.running(tmp_path_factory.mktemp("stage"), database_url=database, redis_url=redis) as found:
        yield found


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def api_way(stage: Stage) -> ApiWay:
    way = ApiWay(stage)
    way.walk()
    return way


@pytest.fixture(scope="package")
def browser_way(stage: Stage, chromium: Browser) -> BrowserWay:
    way = BrowserWay(stage, chromium)
    way.walk()
    return way
