"""Celery's part: waking. Each task is a shell round one function and may run twice at once."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
from collections.abc import Callable
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from aml.web.background import DEFAULT_QUEUE, SMOKE_QUEUE, send, task
from evaluations.runner.driver import Driver
from evaluations.runner.reconcile import driver_wanted, has_work, plan_new
from evaluations.runner.reconcile import reconcile as reconcile_once

# Made before the pool forks, so that a child's driver hears of the shutdown that only the parent is told of.
# A bare value and no Event: a child killed while it looks would take an Event's lock with it for ever.
_shutting_down = multiprocessing.RawValue(ctypes.c_bool, False)


@worker_shutting_down.connect
def _note_shutdown(**_: Any) -> None:
    _shutting_down.value = True


@worker_ready.connect
def _reconcile_at_start(**_: Any) -> None:
    send(reconcile)


@task(name="evaluations.drive", time_limit=settings.DRIVE_HARD_LIMIT)
def drive(smoke_only: bool = False, successor: bool = False) -> None:
    """Claim for some minutes, then hand over to a successor and wait only for the calls still held.

    Somebody else's driver of the same kind is enough: then this message came late or twice.
    """
    plan_new()  # the message that a run's start sent need not wait for the next reconcile
    if successor or driver_wanted(smoke_only=smoke_only):
        asyncio.run(_drive(smoke_only=smoke_only))


async def _drive(*, smoke_only: bool) -> None:
    driver = Driver(seconds=settings.DRIVE_SECONDS, smoke_only=smoke_only, on_handover=_successor(smoke_only))
    watching = asyncio.create_task(_watch(driver))
    try:
        await driver.run()
    finally:
        watching.cancel()


def _successor(smoke_only: bool) -> Callable[[], None]:
    def start() -> None:
        if has_work(smoke_only=smoke_only) and not _shutting_down.value:
            send(drive, queue=_queue(smoke_only), smoke_only=smoke_only, successor=True)

    return start


def _queue(smoke_only: bool) -> str:
    return SMOKE_QUEUE if smoke_only else DEFAULT_QUEUE


async def _watch(driver: Driver) -> None:
    while not _shutting_down.value:
        await asyncio.sleep(0.5)
    driver.stop()


@task(name="evaluations.reconcile")
def reconcile() -> None:
    reconcile_once()
    for smoke_only in (True, False):
        if driver_wanted(smoke_only=smoke_only):
            send(drive, queue=_queue(smoke_only), smoke_only=smoke_only)
