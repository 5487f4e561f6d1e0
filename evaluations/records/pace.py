"""Samples of a run's progress, for rate and ETA, and its phase: the earliest that isn't finished."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import Count, Q

from evaluations import states
from evaluations.models import Run, Unit
from evaluations.models.ledger import KindChoice

KEPT = 20
LEAST_GAP = 5.0  # seconds
PHASES = (
    (KindChoice.ADD, states.Phase.INGESTING),
    (KindChoice.SEARCH, states.Phase.SEARCHING),
    (KindChoice.ANSWER, states.Phase.ANSWERING),
    (KindChoice.JUDGE, states.Phase.JUDGING),
)


def counts(run: Run) -> dict[str, tuple[int, int]]:
    """Final and planned units by kind."""
    rows = (
        Unit.objects.filter(run=run)
        .values("kind")
        .annotate(final=Count("pk", filter=Q(status__in=states.UNIT_FINAL)), total=Count("pk"))
        .order_by()
    )
    return {row["kind"]: (row["final"], row["total"]) for row in rows}


def phase_of(run: Run, done: dict[str, tuple[int, int]]) -> str:
    if run.planned_at is None or run.first_add_at is None:
        return states.Phase.STARTING
    for kind, phase in PHASES:
        final, total = done.get(kind, (0, 0))
        if final < total:
            return phase
    return states.Phase.AGGREGATING


def sample(run: Run, *, now: datetime) -> None:
    """Append a sample and update the phase. The caller holds the run's lock."""
    if run.planned_at is None or run.is_final or _too_soon(run, now=now):
        return
    done = counts(run)
    run.pace = [*run.pace, [round(now.timestamp(), 3), {kind: final for kind, (final, _) in done.items()}]][
        -KEPT:
    ]
    run.phase = phase_of(run, done)
    run.save(update_fields=["pace", "phase"])


def _too_soon(run: Run, *, now: datetime) -> bool:
    """Several processes reconcile; their samples must not crowd out the older ones, nor count units in vain."""
    return bool(run.pace) and now.timestamp() - run.pace[-1][0] < min(
        LEAST_GAP, settings.RECONCILE_SECONDS / 2
    )
