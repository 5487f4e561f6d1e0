"""Which runs have something to do, in the order in which a driver should serve them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

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
    share: float  # of a driver's calls: participants get the same, and each spreads it over its runs


def candidates(*, smoke_only: bool = False, also: Sequence[int] = ()) -> list[Candidate]:
    """Planned runs with a unit that is due; all with a pending unit where a breaker is open, for its probes.

    ``also`` are runs whose results the driver is about to record: they open what comes next, which then
    starts in the same turn instead of after the next look.

    Smoke before Full, then whose participant has least in flight, then by start deadline.
    """
    if PlatformState.objects.filter(pk=1, maintenance=True).exists():
        return []
    room = max(0, settings.MODEL_BUDGET - claims.model_calls_in_flight())
    rows = _rows(smoke_only, also)
    runs_of = Counter(registration for _, registration, _ in rows)
    return [
        Candidate(
            run_id=run_id,
            key_set_at=key_set_at,
            model_room=room,
            share=1 / (len(runs_of) * runs_of[registration]),
        )
        for run_id, registration, key_set_at in rows
    ]


def _rows(smoke_only: bool, also: Sequence[int]) -> list[tuple[int, int, datetime | None]]:
    ready = Unit.objects.filter(run=OuterRef("pk"), status=states.UnitStatus.READY)
    due = Exists(ready.filter(next_attempt_at__lte=clock.now()))
    probing = ~Q(flow__breaker=None) | ~Q(model_flow__breaker=None)
    runs = Run.objects.runnable().filter(planned_at__isnull=False)
    runs = runs.filter(due | (probing & Exists(ready)) | Q(pk__in=also))
    if smoke_only:
        runs = runs.smokes()
    flying = (
        Unit.objects.filter(status=states.UnitStatus.CLAIMED, run__registration=OuterRef("registration"))
        .order_by()
        .values("run__registration")
        .annotate(flying=Count("pk"))
        .values("flying")
    )
    return list(
        runs.annotate(flying=Coalesce(Subquery(flying), 0))
        .order_by("-kind", "flying", "start_deadline_at", "pk")
        .values_list("pk", "registration_id", "version__memory_key_set_at")
    )
