"""``transition`` is the only door by which a run's status moves; ``add_event`` writes its timeline.

Both work under the run's row lock, so that event numbers have no gaps which fill later.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from aml.web import clock, outbox
from aml.web.models import User
from evaluations import signals, states
from evaluations.models import Run, RunEvent
from evaluations.records import ending, quota
from registration.models import acting_people

PLATFORM = "platform"
PARTICIPANT = "participant"
ORGANISER = "organiser"
REVIEWER = "reviewer"

#: States that a participant is told of by mail, with the template's name.
MAILED: dict[str, str] = {
    states.RunStatus.PAUSED: "run_paused",
    states.RunStatus.SUCCEEDED: "run_finished",
    states.RunStatus.PARTIAL: "run_finished",
    states.RunStatus.FAILED: "run_finished",
    states.RunStatus.CANCELLED: "run_finished",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Who moves a run and why; ``sentence`` is English, marked for translation, shown translated."""

    actor: str
    sentence: str
    user: User | None = None
    code: str = ""
    fault: str = ""


def lock(run_id: int) -> Run:
    """The run's row, locked until the transaction ends. Everything about a run is serialised here."""
    return Run.objects.select_for_update(of=("self",)).select_related("cycle").get(pk=run_id)


def transition(run_id: int, to: str, *, why: Why, pause_reason: str = "", stood_still: bool = False) -> bool:
    """Move a run to ``to``, with event, quota, cooldown and mail rows in the same transaction.

    Returns False where the table has no such move from the present state: somebody was first, or a
    message came late. That is kept as an ignored event and changes nothing else.
    """
    with transaction.atomic():
        run = lock(run_id)
        now = clock.now()
        if to not in states.MOVES[run.status]:
            add_event(run, kind="ignored", why=why, moved=("", to), at=now)
            return False
        before, run.status = str(run.status), to
        _take_out_pause(run, now=now)
        _set_fields(run, why, now=now, pause_reason=pause_reason)
        run.save(update_fields=_MOVED)
        event = add_event(run, kind="status", why=why, moved=(before, to), at=now)
        if to in states.FINAL:
            ending.skip_rest(run, now=now)
            quota.settle(run, now=now, stood_still=stood_still)
            transaction.on_commit(lambda: signals.run_finished.send(Run, run_id=run_id), robust=True)
        _tell(run, event)
    return True


_MOVED = [
    "status", "pause_reason", "paused_at", "finished_at", "code", "fault", "sentence", "service_released_at",
    "flow", "model_flow",
]  # fmt: skip


def _take_out_pause(run: Run, *, now: datetime) -> None:
    """While the organiser paused the run nobody called: that time is no part of anybody's outage."""
    if run.pause_reason != states.PauseReason.OPERATOR or run.paused_at is None:
        return
    seconds = (now - run.paused_at).total_seconds()
    for name in ("flow", "model_flow"):
        state = getattr(run, name)
        if state.get("failing_since") is not None:
            setattr(run, name, {**state, "failing_since": state["failing_since"] + seconds})


def _set_fields(run: Run, why: Why, *, now: datetime, pause_reason: str) -> None:
    paused = run.status == states.RunStatus.PAUSED
    run.pause_reason = pause_reason if paused else ""
    run.paused_at = now if paused else None
    run.finished_at = now if run.status in states.FINAL else None
    run.code, run.fault = why.code, why.fault
    run.sentence = why.sentence if why.code else ""
    if run.status in (states.RunStatus.FAILED, states.RunStatus.CANCELLED) or (run.is_final and run.is_smoke):
        run.service_released_at = now


def add_event(
    run: Run,
    *,
    kind: str,
    why: Why,
    moved: tuple[str, str] = ("", ""),
    at: datetime | None = None,
    data: dict[str, Any] | None = None,
) -> RunEvent:
    """Append to the run's timeline; ``moved`` is the status before and after. The caller holds the run's lock."""
    run.event_count += 1
    Run.objects.filter(pk=run.pk).update(event_count=F("event_count") + 1)
    return RunEvent.objects.create(
        run=run, number=run.event_count, at=at or clock.now(), kind=kind, actor=why.actor, user=why.user,
        sentence=why.sentence, status_from=moved[0], status_to=moved[1], data=data or {},
    )  # fmt: skip


def _tell(run: Run, event: RunEvent) -> None:
    template = MAILED.get(run.status)
    if template is None:
        return
    outbox.enqueue(
        f"run:{run.public_id}:{event.number}", users=acting_people(run.registration_id), template=template,
        label=run.label, run=run.public_id, kind=run.kind, track=run.track, status=run.status,
        sentence=event.sentence, pause_reason=run.pause_reason,
    )  # fmt: skip


def publish_move(run_id: int, to: str, *, why: Why, reason: str = "") -> bool:
    """Move a run's publication; False where the table has no such move."""
    with transaction.atomic():
        run = lock(run_id)
        if to not in states.PUBLICATION_MOVES[run.publication]:
            return False
        before, run.publication = str(run.publication), to
        run.publication_reason = reason
        run.save(update_fields=["publication", "publication_reason"])
        add_event(run, kind="publication", why=why, data={"from": before, "to": to})
        transaction.on_commit(lambda: signals.run_published_state.send(Run, run_id=run_id), robust=True)
    return True
