"""Reconcile: what can be stuck gets out here. Safe to run at any time, by anybody, twice at once."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_noop

from aml.web import clock, outbox
from aml.web.guarding import guarded
from aml.web.models import User
from evaluations import signals, states
from evaluations.engine import flow
from evaluations.engine.types import Fault
from evaluations.models import Run, Unit
from evaluations.models.ledger import SERVICE_KINDS
from evaluations.records import claims, heartbeats, pace, planning
from evaluations.records.completion import Applied
from evaluations.records.flows import limits_of, service_flow
from evaluations.records.reopening import reopen_unsettled
from evaluations.records.transitions import PLATFORM, Why, add_event, lock, transition
from evaluations.runner import checks, finalise
from evaluations.runner.turns import move_status
from registration.types import START_ALARM_HOURS

PROBES_MISSED = 2  # as many of the breaker's longest waits may lie between two calls of one outage

OUTAGE_OVER = gettext_noop("The memory service stayed away for longer than the cycle allows.")
ALARM = gettext_noop("The run has not started yet; the organiser has been alarmed. The deadline stands.")
DEADLINE = gettext_noop(
    "The platform missed its deadline to start this run. That is the platform's fault: the slot stays, the run "
    "still starts, and it may be withdrawn free of charge."
)


def reconcile() -> dict[str, int]:
    """One pass; returns what it did, for the log and the command."""
    did = {
        "planned": plan_new(),
        "returned": claims.expire() + checks.expire(),
        "moved": sum(guarded(_review, pk) for pk in Run.objects.active().values_list("pk", flat=True)),
        "finished": sum(guarded(finalise.finish, pk) for pk in _complete()),
        "reopened": sum(guarded(reopen_unsettled, pk) for pk in _complete()),
    }
    heartbeats.sweep()
    signals.reconciled.send_robust(None)
    return did


def plan_new() -> int:
    return sum(guarded(planning.plan, pk) for pk in _unplanned())


def _unplanned() -> list[int]:
    return list(
        Run.objects.active()
        .filter(planned_at__isnull=True)
        .order_by("-kind", "pk")
        .values_list("pk", flat=True)
    )


def _complete() -> list[int]:
    """Active runs without an open unit."""
    open_units = Unit.objects.filter(run=OuterRef("pk")).exclude(status__in=states.UNIT_FINAL)
    runs = Run.objects.active().filter(planned_at__isnull=False).exclude(Exists(open_units))
    return list(runs.values_list("pk", flat=True))


def has_work(*, smoke_only: bool = False) -> bool:
    """Whether a driver would find something to do, now or soon."""
    runs = Run.objects.runnable()
    return runs.smokes().exists() if smoke_only else runs.exists() or checks.waiting()


def driver_wanted(*, smoke_only: bool = False) -> bool:
    """Whether to start a driver: there is work, and none of this kind lives."""
    return has_work(smoke_only=smoke_only) and not heartbeats.live_drivers(smoke_only=smoke_only)


def _review(run_id: int) -> bool:
    """Deadlines, outages and pauses of one run by the clock."""
    with transaction.atomic():
        run = lock(run_id)
        now = clock.now()
        before = run.status
        pace.sample(run, now=now)
        _watch_start(run, now=now)
        if not _end_of_outage(run, now=now):
            move_status(run, Applied(), started=False, now=now)
        after = Run.objects.values_list("status", flat=True).get(pk=run_id)
    return after != before


def _end_of_outage(run: Run, *, now: datetime) -> bool:
    """An outage of the participant's service ends a run after the cycle's time; nobody else's ever does."""
    if run.pause_reason != states.PauseReason.ENDPOINT:
        return False
    limits = limits_of(run).model_copy(update={"outage_end": run.rule("outage_end_hours") * 3600.0})
    state = service_flow(run, limits=limits)
    if state.failing_since is None or not flow.outage_over(state, now=now.timestamp(), limits=limits):
        return False
    asked = _asked_for(run, since=state.failing_since, now=now, grace=PROBES_MISSED * limits.probe_cap)
    if asked < limits.outage_end:
        return False
    code = _latest_code(run)
    why = Why(actor=PLATFORM, sentence=OUTAGE_OVER, code=code, fault=Fault.PARTICIPANT)
    return transition(run.pk, states.RunStatus.FAILED, why=why)


def _asked_for(run: Run, *, since: float, now: datetime, grace: float) -> float:
    """Seconds of the outage in which we kept calling: while our side was away, nobody else's was."""
    begun = datetime.fromtimestamp(since, tz=now.tzinfo)
    calls = run.attempts.filter(
        kind__in=SERVICE_KINDS, fault=Fault.PARTICIPANT, finished_at__gte=begun
    ).values_list("started_at", "finished_at")
    spans = [(max(start, begun).timestamp(), end.timestamp()) for start, end in calls if end]
    return flow.covered(spans, grace=grace)


def _latest_code(run: Run) -> str:
    """Of the service's failures, of which an outage has at least one."""
    failed = run.attempts.filter(kind__in=SERVICE_KINDS, fault=Fault.PARTICIPANT)
    return str(failed.order_by("-finished_at").values_list("code", flat=True)[0])


def _watch_start(run: Run, *, now: datetime) -> None:
    """The 48-hour clock: alarm before the deadline, and an incident of ours when it is missed."""
    if run.is_smoke or run.first_add_at is not None or run.is_final:
        return
    if now >= run.start_deadline_at:
        _once(run, kind="start-missed", sentence=DEADLINE)
    elif now >= run.accepted_at + timedelta(hours=START_ALARM_HOURS):
        _once(run, kind="start-alarm", sentence=ALARM)


def _once(run: Run, *, kind: str, sentence: str) -> None:
    if run.events.filter(kind=kind).exists():
        return
    add_event(run, kind=kind, why=Why(actor=PLATFORM, sentence=sentence))
    staff = User.objects.filter(is_staff=True, is_active=True)
    outbox.enqueue(
        f"run:{run.public_id}:{kind}", users=staff, template="run_start_alarm", run=run.public_id,
        label=run.label, deadline=run.start_deadline_at.isoformat(), sentence=sentence,
    )  # fmt: skip
