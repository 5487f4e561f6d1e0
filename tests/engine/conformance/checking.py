"""A conformance check of the reference service with chosen faults, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from evaluations.engine.conformance import Budget, CheckSettings, Outcome, Report, run_checks
from evaluations.engine.types import AuthScheme, Endpoint, Secret
from tests.reference.serving import KEY, running

# One probe at a time where a fault crosses users: side by side, they would change each other's replies.
QUICK = Budget(attempts_before_first_success=2, call=4.0, burst=30.0, parallel=1, total=120.0)
WRONG = {Outcome.FAIL, Outcome.WARNING}


def endpoint_at(url: str, **changes: Any) -> Endpoint:
    fields: dict[str, Any] = {
        "add_url": f"{url}/add",
        "search_url": f"{url}/search",
        "health_url": f"{url}/health",
        "auth": AuthScheme.BEARER,
        "key": Secret(KEY),
        "allow_private": True,
    }
    return Endpoint(**fields | changes)


def check_faults(
    *faults: str, track: str = "textual", budget: Budget = QUICK, concurrency: int = 8, **changes: Any
) -> Report:
    with running(key=KEY, faults=faults) as url:
        settings = CheckSettings(concurrency_add=concurrency, concurrency_search=concurrency, budget=budget)
        endpoint = endpoint_at(url, **changes)
        return asyncio.run(run_checks(endpoint=endpoint, track=track, settings=settings))


def wrong(report: Report) -> dict[str, str]:
    """The checks that failed or warned."""
    return {r.name: str(r.outcome) for r in report.results if r.outcome in WRONG}


def untested(report: Report) -> set[str]:
    return {r.name for r in report.results if r.outcome is Outcome.NOT_TESTED}


def codes(report: Report, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    return {name: report.result(name).codes for name in names}
