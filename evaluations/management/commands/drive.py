"""The embedded driver: drives runs beside the site, and does what beat does where there is no broker."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from aml.web import audit, outbox
from evaluations.runner.driver import Driver
from evaluations.runner.reconcile import reconcile


class Command(BaseCommand):
    help = "Drive runs in this process until stopped (Ctrl-C or SIGTERM)."

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(_drive())


async def _drive() -> None:
    """Without a broker nobody else wakes us: the chores come often enough that a start by hand is felt as
    immediate."""
    driver = Driver(
        chores=(reconcile, outbox.send_pending, audit.seal), chores_every=min(1.0, settings.RECONCILE_SECONDS)
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, driver.stop)
    await driver.run()
