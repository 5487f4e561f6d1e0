"""Drivers say that they live; reconcile and the status page read it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from aml.web import clock
from aml.web.models import Heartbeat


def beat(*, name: str, flying: int, smoke_only: bool = False, claiming: bool = True) -> None:
    """``claiming`` is False for a driver that only waits for the calls it still holds."""
    now = clock.now()
    Heartbeat.objects.update_or_create(
        name=name,
        defaults={
            "kind": Heartbeat.Kind.DRIVER,
            "beat_at": now,
            "detail": {"in_flight": flying, "smoke_only": smoke_only, "claiming": claiming},
        },
    )


def gone(*, name: str) -> None:
    Heartbeat.objects.filter(name=name).delete()


def live_drivers(*, smoke_only: bool = False) -> int:
    """Drivers of this kind that claim, heard of within a claim's length."""
    since = clock.now() - timedelta(seconds=settings.CLAIM_SECONDS)
    live = Heartbeat.objects.filter(kind=Heartbeat.Kind.DRIVER, beat_at__gte=since)
    return live.filter(detail__smoke_only=smoke_only, detail__claiming=True).count()


def sweep() -> None:
    """Forget drivers that died a while ago; the status page shows them until then."""
    Heartbeat.objects.filter(beat_at__lt=clock.now() - timedelta(hours=1)).delete()
