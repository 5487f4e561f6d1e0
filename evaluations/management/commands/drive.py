"""The embedded driver: drives runs beside the site, and does what beat does where there is no broker."""

from __future__ import annotations

import asyncio
import logging
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import close_old_connections

from aml.web import audit, outbox
from evaluations.runner.driver import Driver
from evaluations.runner.reconcile import reconcile

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Drive runs in this process until stopped (Ctrl-C or SIGTERM)."

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(_drive())


async def _drive() -> None:
    driver = Driver()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, driver.stop)
    chores = asyncio.create_task(_chores())
    try:
        await driver.run()
    finally:
        chores.cancel()


async def _chores() -> None:
    """Reconcile, mail and the audit chain, in a thread of their own. Without a broker nobody else wakes us,
    so reconcile runs often enough that a start by hand is felt as immediate."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, thread_name_prefix="chores") as pool:
        while True:
            for chore in (reconcile, outbox.send_pending, audit.seal):
                try:
                    await loop.run_in_executor(pool, _fresh(chore))
                except Exception:
                    log.exception("a chore failed; it is tried again")
            await asyncio.sleep(min(1.0, settings.RECONCILE_SECONDS))


def _fresh(chore: Any) -> Any:
    def run() -> None:
        close_old_connections()
        chore()

    return run
