"""``/status/``: is the platform working, how long is the queue. Counts only, no run is named."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aml.web import clock
from aml.web.models import Heartbeat, OutboxMessage, PlatformState
from evaluations.models import Run
from evaluations.states import RunKind, RunStatus

MAIL_LATE = timedelta(minutes=15)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    now = clock.now()
    drivers = heartbeats(now=now)
    state = PlatformState.objects.filter(pk=1).first()
    queue = [{"kind": RunKind(kind).label, **queue_of(kind)} for kind in RunKind.values]
    waiting = any(line["queued"] or line["running"] for line in queue)
    mail_late = OutboxMessage.objects.filter(
        status=OutboxMessage.Status.PENDING, created_at__lt=now - MAIL_LATE
    ).exists()
    context = {
        "now": now,
        "state": state,
        "overall": _overall(
            state, alive=any(one["alive"] for one in drivers), waiting=waiting, late=mail_late
        ),
        "queue": queue,
        "drivers": drivers,
        "mail_late": mail_late,
        "revision": settings.CODE_REVISION,
    }
    return render(request, "pages/status.html", context)


def queue_of(kind: str) -> dict[str, Any]:
    """Runs of a kind that wait, go on or are paused, and since when the oldest one waits for its start."""
    active = Run.objects.active().filter(kind=kind)
    counts = dict(active.order_by().values_list("status").annotate(Count("pk")))
    oldest = active.filter(first_add_at__isnull=True).aggregate(at=Min("accepted_at"))["at"]
    return {
        "queued": counts.get(RunStatus.QUEUED, 0),
        "running": counts.get(RunStatus.RUNNING, 0),
        "paused": counts.get(RunStatus.PAUSED, 0),
        "oldest": oldest,
    }


def heartbeats(*, now: datetime) -> list[dict[str, Any]]:
    """By kind of process: how many were heard of lately, and when last."""
    since = now - timedelta(seconds=max(settings.CLAIM_SECONDS, 2 * settings.RECONCILE_SECONDS))
    found = []
    for kind in Heartbeat.Kind.values:
        rows = Heartbeat.objects.filter(kind=kind)
        last = rows.order_by("-beat_at").values_list("beat_at", flat=True).first()
        if last is not None:
            alive = rows.filter(beat_at__gte=since).count()
            found.append({"kind": Heartbeat.Kind(kind).label, "alive": alive, "last": last})
    return found


def _overall(state: PlatformState | None, *, alive: bool, waiting: bool, late: bool) -> str:
    """A key of ``aml.web.states``: down while work waits and nobody does it."""
    if waiting and not alive:
        return "down"
    return "degraded" if late or (state is not None and state.maintenance) else "ok"
