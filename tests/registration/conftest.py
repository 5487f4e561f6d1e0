"""These tests need the app's own pages only."""

from __future__ import annotations

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def _own_pages(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.registration.urls"
