"""A turn: in one transaction under a run's lock, record what is done and take what may start next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from aml.web import clock
from evaluations import states
from evaluations.engine import flow
from evaluations.models import Attempt, Run, Unit
from evaluations.models.ledger import KindChoice
from evaluations.records import claims, completion
from evaluations.records.flows import limits_of, model_flow, service_flow
from evaluations.records.transitions import PLATFORM, Why, lock, transition
from evaluations.runner import recording
from evaluations.runner.work import Done, Work, load

STARTED = gettext_noop("Started: the first call is on its way to the memory service.")
RESUMED = gettext_noop("Going on: a call succeeded again.")
ENDPOINT_DOWN = gettext_noop(
    "The memory service has not answered successfully for a while. The run waits and goes on by itself at the "
    "first success; nothing is lost and nothing is charged for waiting."
)
PROVIDER_DOWN = gettext_noop(
    "The model provider does not answer or has no credit. This is not the participant's fault; the run goes on "
    "by itself."
)


@dataclass(frozen=True, slots=True)
class Ask:
    """What the driver brings to a turn and what it has room for."""

    token: str
    done: Sequence[Done] = ()
    unsent: Sequence[Attempt] = ()
    whole_exchanges: bool = False  # of a Smoke: its trace shows content
    service: int = 0
    models: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    works: list[Work] = field(default_factory=list)
    caps: dict[str, int] = field(default_factory=dict)
    held_back: frozenset[str] = frozenset()  # kinds whose breaker is open: unsent claims go back
    all_final: bool = False
    active: bool = True


def turn(run_id: int, ask: Ask) -> Turn:
    finished = recording.record(ask.done, whole=ask.whole_exchanges) if ask.done else []
    with transaction.atomic():
        run = lock(run_id)
        now = clock.now()
        if ask.unsent:
            claims.put_back(run, ask.unsent, token=ask.token, now=now)
        applied = completion.apply(run, finished, token=ask.token, now=now)
        claimed = _claim(run, ask, now=now)
        move_status(run, applied, started=bool(claimed and claimed.taken), now=now)
        all_final = bool(applied.finished_units) and not _open_units(run).exists()
    if claimed is None:
        return Turn(all_final=all_final, active=False)
    return Turn(
        works=load(run, claimed.taken),
        caps=claimed.caps,
        held_back=_held_back(claimed),
        all_final=all_final,
    )


def _claim(run: Run, ask: Ask, *, now: datetime) -> claims.Claim | None:
    paused_by_hand = run.pause_reason == states.PauseReason.OPERATOR
    if run.is_final or run.planned_at is None or paused_by_hand:
        return None
    taken = claims.claim(run, token=ask.token, now=now, service=ask.service, models=ask.models)
    if run.first_add_at is None and any(unit.kind == KindChoice.ADD for unit, _ in taken.taken):
        Run.objects.filter(pk=run.pk, first_add_at__isnull=True).update(first_add_at=now)
    return taken


def _held_back(claimed: claims.Claim) -> frozenset[str]:
    kinds: set[str] = set()
    if claimed.service_breaker:
        kinds |= set(claims.SERVICE_ORDER)
    if claimed.model_breaker:
        kinds |= set(claims.MODEL_ORDER)
    return frozenset(kinds)


def _open_units(run: Run) -> Any:
    return Unit.objects.filter(run=run).exclude(status__in=states.UNIT_FINAL)


def move_status(run: Run, applied: completion.Applied, *, started: bool, now: datetime) -> None:
    """Start, pause and resume as the flow says. The caller holds the lock and ends its use of ``run`` here."""
    if run.status == states.RunStatus.QUEUED and started:
        transition(run.pk, states.RunStatus.RUNNING, why=Why(actor=PLATFORM, sentence=STARTED))
        return
    reason = outage_of(run, now=now)
    if run.status == states.RunStatus.RUNNING and reason:
        sentence = ENDPOINT_DOWN if reason == states.PauseReason.ENDPOINT else PROVIDER_DOWN
        transition(
            run.pk, states.RunStatus.PAUSED, why=Why(actor=PLATFORM, sentence=sentence), pause_reason=reason
        )
    elif _recovered(run, applied, reason):
        transition(run.pk, states.RunStatus.RUNNING, why=Why(actor=PLATFORM, sentence=RESUMED))


def _recovered(run: Run, applied: completion.Applied, reason: str) -> bool:
    if run.status != states.RunStatus.PAUSED or reason:
        return False
    back = {states.PauseReason.ENDPOINT: applied.service_ok, states.PauseReason.PROVIDER: applied.models_ok}
    return back.get(states.PauseReason(run.pause_reason), False)


def outage_of(run: Run, *, now: datetime) -> str:
    """The pause reason that the run's flow calls for, or ""."""
    limits = limits_of(run)
    if flow.outage(service_flow(run, limits=limits), now=now.timestamp(), limits=limits):
        return states.PauseReason.ENDPOINT
    if flow.outage(model_flow(run, limits=limits), now=now.timestamp(), limits=limits):
        return states.PauseReason.PROVIDER
    return ""
