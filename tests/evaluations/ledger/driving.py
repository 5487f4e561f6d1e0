"""The driver in this process, on the test database, until something is true."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection

from evaluations import states
from evaluations.models import Run
from evaluations.runner.driver import Driver

SECONDS = 45.0


def drive(until: Callable[[], bool], *, seconds: float = SECONDS, driver: Driver | None = None) -> None:
    """Fails the test if ``until`` isn't true in time."""
    assert asyncio.run(_drive(until, seconds, driver or Driver())), "the driver took too long"


async def _drive(until: Callable[[], bool], seconds: float, driver: Driver) -> bool:
    loop, deadline = asyncio.get_running_loop(), time.monotonic() + seconds
    driving = asyncio.create_task(driver.run())
    reached = False
    with ThreadPoolExecutor(1) as watcher:
        while not reached and time.monotonic() < deadline and not driving.done():
            await asyncio.sleep(0.1)
            reached = await loop.run_in_executor(watcher, until)
        driver.stop()
        await driving
        await loop.run_in_executor(watcher, _disconnect)
    return reached


def final(run_id: int) -> Callable[[], bool]:
    return lambda: Run.objects.filter(pk=run_id, status__in=states.FINAL).exists()


def first(*acts: Callable[[], object], then: Callable[[], bool]) -> Callable[[], bool]:
    """Do each of ``acts`` once, one a look, as soon as the act before returned something true; then ``then``."""
    waiting = list(acts)

    def look() -> bool:
        if waiting:
            if waiting[0]():
                waiting.pop(0)
            return False
        return then()

    return look


def _disconnect() -> None:
    connection.close()  # looked up here: connections belong to threads
