"""Which runs have something to do, in the order in which a driver should serve them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q

from aml.web import clock
from aml.web.models import PlatformState
from evaluations import states
from evaluations.models import Run, Unit
from evaluations.records import claims


@dataclass(frozen=True, slots=True)
class Candidate:
    run_id: int
    key_set_at: datetime | None
    model_room: int


def candidates(*, smoke_only: bool = False, also: Sequence[int] = ()) -> list[Candidate]:
    """Planned runs with a unit that is due; all with a pending unit where a breaker is open, for its probes.

    ``also`` are runs whose results the driver is about to record: they open what comes next, which then
    starts in the same turn instead of after the next look.

    Smoke before Full, then whose participant has least in flight, then by start deadline.
    """
    if PlatformState.objects.filter(pk=1, maintenance=True).exists():
        return []
    room = max(0, settings.MODEL_BUDGET - claims.model_calls_in_flight())
    return [
        Candidate(run_id=run_id, key_set_at=key_set_at, model_room=room)
        for run_id, key_set_at in _rows(smoke_only, also)
    ]


def _rows(smoke_only: bool, also: Sequence[int]) -> list[tuple[int, datetime | None]]:
    ready = Unit.objects.filter(run=OuterRef("pk"), status=states.UnitStatus.READY)
    due = Exists(ready.filter(next_attempt_at__lte=clock.now()))
    probing = ~Q(flow__breaker=None) | ~Q(model_flow__breaker=None)
    runs = Run.objects.runnable().filter(planned_at__isnull=False)
    runs = runs.filter(due | (probing & Exists(ready)) | Q(pk__in=also))
    if smoke_only:
        runs = runs.smokes()
    claimed = Count("units", filter=Q(units__status=states.UnitStatus.CLAIMED))
    return list(
        runs.annotate(claimed=claimed)
        .order_by("-kind", "claimed", "start_deadline_at", "pk")
        .values_list("pk", "version__memory_key_set_at")
    )
