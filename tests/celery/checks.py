"""What must hold of a run in the end, whatever was done to its drivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.celery.witness import testify
from tests.fakes.service import FakeService

IN_FLIGHT = 4 + 8  # Adds and Searches of the staged run
FLUSH = 8


def assert_whole(
    found: Mapping[str, Any], service: FakeService, *, figures: Mapping[str, Any], kills: int
) -> None:
    """The undisturbed figures, every unit recorded once, nothing out of order, few calls twice."""
    assert (found["status"], found["figures"]) == ("succeeded", figures)
    assert set(found["units"]) <= {"done", "skipped"}
    assert found["ok_attempts"] == found["done"]
    assert found["results"] == found["results_due"]
    assert found["quota"] == ["reserve", "consume"]
    told = testify(service.hits, found["calls"])
    assert (told.missing, told.unknown, told.disorder) == (0, 0, [])
    assert told.extra <= kills * (IN_FLIGHT + FLUSH)
    assert told.extra <= found["repeated_calls"]
    assert told.longest_silence < 60
