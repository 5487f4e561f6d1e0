"""A fake service whose log is the witness, and the figures of an undisturbed run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.celery.stage import MANY, command_line_figures
from tests.fakes.service import FakeService, threaded


@pytest.fixture
def service() -> Iterator[FakeService]:
    with threaded(seconds=0.15) as running:
        yield running


@pytest.fixture(scope="session")
def expected() -> dict[str, Any]:
    with threaded() as undisturbed:
        return command_line_figures(undisturbed, shapes=MANY)
