"""A turn: in one transaction under a run's lock, record what is done and take what may start next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from aml.web import clock
from evaluations import states
from evaluations.engine import flow
from evaluations.models import Attempt, Run, Unit
from evaluations.models.ledger import MODEL_KINDS, SERVICE_KINDS, KindChoice
from evaluations.records import claims, completion
from evaluations.records.ending import skip_rest
from evaluations.records.flows import limits_of, model_flow, service_flow
from evaluations.records.transitions import PLATFORM, Why, lock, transition
from evaluations.runner import recording
from evaluations.runner.work import Done, Work, broken, load

log = logging.getLogger(__name__)

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
    """Record, then claim. A result that can't be recorded ends as our fault and holds up no other."""
    try:
        return _turn(run_id, ask)
    except (OperationalError, InterfaceError, OSError):
        raise  # the database or the disk is away: the same again, later
    except Exception:
        if not ask.done:
            raise
        log.exception("a batch of run %s can't be recorded; trying its results one by one", run_id)
    alone = [
        _record_alone(run_id, replace(ask, done=[done], unsent=(), service=0, models=0)) for done in ask.done
    ]
    last = _turn(run_id, replace(ask, done=()))
    return replace(last, all_final=last.all_final or any(alone))


def _record_alone(run_id: int, ask: Ask) -> bool:
    """Whether the run's units are all final now."""
    try:
        return _turn(run_id, ask).all_final
    except (OperationalError, InterfaceError, OSError):
        raise
    except Exception:
        log.exception("a result of run %s can't be recorded; the call is made again", run_id)
    return _turn(run_id, replace(ask, done=[Done(done.work, fault=broken()) for done in ask.done])).all_final


def _turn(run_id: int, ask: Ask) -> Turn:
    finished = recording.record(ask.done, whole=ask.whole_exchanges) if ask.done else []
    with transaction.atomic():
        run = lock(run_id)
        now = clock.now()
        if ask.unsent:
            claims.put_back(run, ask.unsent, token=ask.token, now=now)
        applied = completion.apply(run, finished, token=ask.token, now=now)
        if run.is_final:
            skip_rest(run, now=now)  # what came back for another attempt after the end
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


def _open_units(run: Run, kinds: Iterable[str] = KindChoice) -> QuerySet[Unit]:
    return Unit.objects.filter(run=run, kind__in=kinds).exclude(status__in=states.UNIT_FINAL)


def move_status(run: Run, applied: completion.Applied, *, started: bool, now: datetime) -> None:
    """Start, pause and resume as the flow says. The caller holds the lock and ends its use of ``run`` here."""
    if run.status == states.RunStatus.QUEUED and (started or applied.recorded):
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
    if run.pause_reason == states.PauseReason.ENDPOINT:
        return True  # a success ended the outage, perhaps while the provider was away
    # A provider's pause without an outage waits for verdicts: only a verdict ends it.
    return run.pause_reason == states.PauseReason.PROVIDER and applied.models_ok


def outage_of(run: Run, *, now: datetime) -> str:
    """The pause reason that the run's flow calls for, or "". Nobody is away of whom nothing is wanted."""
    limits, at = limits_of(run), now.timestamp()
    service, models = service_flow(run, limits=limits), model_flow(run, limits=limits)
    if flow.outage(service, now=at, limits=limits) and _open_units(run, SERVICE_KINDS).exists():
        return states.PauseReason.ENDPOINT
    if flow.outage(models, now=at, limits=limits) and _open_units(run, MODEL_KINDS).exists():
        return states.PauseReason.PROVIDER
    return ""
