"""Drivers say that they live; reconcile and the status page read it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from aml.web import clock
from aml.web.models import Heartbeat


def beat(*, name: str, flying: int) -> None:
    Heartbeat.objects.update_or_create(
        name=name,
        defaults={"kind": Heartbeat.Kind.DRIVER, "beat_at": clock.now(), "detail": {"in_flight": flying}},
        create_defaults={
            "kind": Heartbeat.Kind.DRIVER, "beat_at": clock.now(), "started_at": clock.now(),
            "detail": {"in_flight": flying},
        },
    )  # fmt: skip


def gone(*, name: str) -> None:
    Heartbeat.objects.filter(name=name).delete()


def live_drivers() -> int:
    """Drivers heard of within a claim's length."""
    since = clock.now() - timedelta(seconds=settings.CLAIM_SECONDS)
    return Heartbeat.objects.filter(kind=Heartbeat.Kind.DRIVER, beat_at__gte=since).count()


def sweep() -> None:
    """Forget drivers that died a while ago; the status page shows them until then."""
    Heartbeat.objects.filter(beat_at__lt=clock.now() - timedelta(hours=1)).delete()
