"""Claims: ready units are taken under the run's lock, with a token and an end; expired ones come back.

An attempt's row is the intent, committed in the claim's transaction, before any request leaves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet

from aml.web import clock
from evaluations import states
from evaluations.engine import flow
from evaluations.engine.flow import FlowState
from evaluations.engine.types import Operation
from evaluations.models import Attempt, Run, Unit
from evaluations.models.ledger import MODEL_KINDS, SERVICE_KINDS, KindChoice
from evaluations.records.ending import skip_rest
from evaluations.records.flows import OPERATION, limits_of, model_flow, service_flow
from evaluations.records.transitions import lock

READY, CLAIMED = states.UnitStatus.READY, states.UnitStatus.CLAIMED


@dataclass(frozen=True, slots=True)
class Claim:
    """What a turn took, and how many calls of each kind this driver may have in flight at once."""

    taken: list[tuple[Unit, Attempt]]
    caps: dict[str, int]
    service_breaker: bool
    model_breaker: bool


@dataclass(frozen=True, slots=True)
class Flying:
    """Live claims by kind: this driver's and the others'."""

    mine: dict[str, int]
    others: dict[str, int]

    @classmethod
    def of(cls, run: Run, *, token: str) -> Flying:
        rows = (
            Unit.objects.filter(run=run, status=CLAIMED)
            .values("kind")
            .annotate(
                mine=Count("pk", filter=Q(claim_token=token)),
                others=Count("pk", filter=~Q(claim_token=token)),
            )
            .order_by()
        )
        counts = [(row["kind"], row["mine"], row["others"]) for row in rows]
        return cls(mine={k: m for k, m, _ in counts}, others={k: o for k, _, o in counts})


def claim(run: Run, *, token: str, now: datetime, service: int, models: int) -> Claim:
    """Take ready units up to what the run's flow leaves and the driver asks for. The caller holds the lock.

    A driver that holds all of a run's claims takes as many again as may be in flight, so that a whole wave
    which ends at once is followed without waiting for the database; ``caps`` keeps what is in flight within
    the window.
    """
    flying, limits = Flying.of(run, token=token), limits_of(run)
    service_state, model_state = service_flow(run, limits=limits), model_flow(run, limits=limits)
    units = _take(run, service_state, kinds=SERVICE_ORDER, flying=flying, now=now, most=service)
    units += _take(run, model_state, kinds=MODEL_ORDER, flying=flying, now=now, most=models)
    return Claim(
        taken=_mark(run, units, token=token, now=now),
        caps=_caps(service_state, SERVICE_ORDER, flying) | _caps(model_state, MODEL_ORDER, flying),
        service_breaker=service_state.breaker_open,
        model_breaker=model_state.breaker_open,
    )


SERVICE_ORDER = (KindChoice.ADD, KindChoice.SEARCH)
MODEL_ORDER = (KindChoice.JUDGE, KindChoice.ANSWER)  # what is nearest to its end goes first


def _caps(state: FlowState, kinds: Sequence[str], flying: Flying) -> dict[str, int]:
    return {
        kind: max(
            0, math.floor(flow.window(state, operation=OPERATION[kind]).size) - flying.others.get(kind, 0)
        )
        for kind in kinds
    }


def _take(
    run: Run, state: FlowState, *, kinds: Sequence[str], flying: Flying, now: datetime, most: int
) -> list[Unit]:
    if most <= 0:
        return []
    if state.breaker is not None:
        return _probe(run, state, kinds=kinds, now=now)
    taken: list[Unit] = []
    for kind in kinds:
        free = min(_room(state, kind, flying), most - len(taken))
        if free > 0:
            taken += _ready(run, now=now).filter(kind=kind)[:free]
    return taken


def _room(state: FlowState, kind: str, flying: Flying) -> int:
    window = math.floor(flow.window(state, operation=OPERATION[kind]).size)
    mine, others = flying.mine.get(kind, 0), flying.others.get(kind, 0)
    ahead = 0 if others else window
    return window + ahead - mine - others


def _ready(run: Run, *, now: datetime) -> QuerySet[Unit]:
    """Longest remaining lane first."""
    return (
        Unit.objects.filter(run=run, status=READY, next_attempt_at__lte=now)
        .select_related("lane")
        .order_by("-lane__remaining", "lane_id", "position")
    )


def _probe(run: Run, state: FlowState, *, kinds: Sequence[str], now: datetime) -> list[Unit]:
    """One pending call, the one that waits longest first, so that calls rotate; its own wait does not count."""
    opened = state.breaker.opened_at if state.breaker else 0.0
    probes = Attempt.objects.filter(
        run=run, state=states.AttemptState.INTENT, kind__in=kinds,
        started_at__gte=datetime.fromtimestamp(opened, tz=now.tzinfo),
    ).count()  # fmt: skip
    if not flow.allowance(state, operation=Operation.ADD, in_flight=probes, now=now.timestamp()):
        return []
    waiting = Unit.objects.filter(run=run, status=READY, kind__in=kinds).select_related("lane")
    return list(waiting.order_by("next_attempt_at", "pk")[:1])


def _mark(run: Run, units: list[Unit], *, token: str, now: datetime) -> list[tuple[Unit, Attempt]]:
    if not units:
        return []
    ends = now + timedelta(seconds=settings.CLAIM_SECONDS)
    Unit.objects.filter(pk__in=[unit.pk for unit in units], status=READY).update(
        status=CLAIMED, claim_token=token, claim_expires_at=ends, attempts_made=F("attempts_made") + 1
    )
    attempts = []
    for unit in units:
        unit.status, unit.claim_token, unit.claim_expires_at = CLAIMED, token, ends
        unit.attempts_made += 1
        attempts.append(
            Attempt(
                unit=unit,
                run=run,
                kind=unit.kind,
                number=unit.attempts_made,
                claim_token=token,
                started_at=now,
            )
        )
    return list(zip(units, Attempt.objects.bulk_create(attempts), strict=True))


def put_back(run: Run, attempts: Sequence[Attempt], *, token: str, now: datetime) -> None:
    """Return claims whose request never left: no attempt was made. The caller holds the run's lock."""
    intents = Attempt.objects.filter(
        pk__in=[attempt.pk for attempt in attempts], state=states.AttemptState.INTENT, claim_token=token
    )
    keys = list(intents.values_list("unit_id", flat=True))
    intents.delete()
    Unit.objects.filter(pk__in=keys, status=CLAIMED, claim_token=token).update(
        status=READY,
        claim_token="",
        claim_expires_at=None,
        next_attempt_at=now,
        attempts_made=F("attempts_made") - 1,
    )
    if run.first_add_at is not None and not Attempt.objects.filter(run=run, kind=KindChoice.ADD).exists():
        run.first_add_at = None  # the first Add was taken and never sent
        Run.objects.filter(pk=run.pk).update(first_add_at=None)


def renew(*, token: str, units: Sequence[int]) -> frozenset[int]:
    """Push the end of the claims that this driver really works on, and say which it still has.

    A claim whose turn got lost on the way back is not among ``units``, so it ends and is taken again.
    """
    ends = clock.now() + timedelta(seconds=settings.CLAIM_SECONDS)
    held = Unit.objects.filter(pk__in=units, status=CLAIMED, claim_token=token)
    if held.update(claim_expires_at=ends) == len(units):
        return frozenset(units)
    return frozenset(held.values_list("pk", flat=True))


def model_calls_in_flight() -> int:
    """Of all runs: the providers' budget is shared."""
    return Unit.objects.filter(status=CLAIMED, kind__in=MODEL_KINDS).count()


def expire() -> int:
    """Return the units of drivers that stopped renewing; their attempts' outcome is unknown."""
    late = Unit.objects.filter(status=CLAIMED, claim_expires_at__lt=clock.now())
    returned = 0
    for run_id in set(late.values_list("run_id", flat=True)):
        with transaction.atomic():
            run = lock(run_id)
            now = clock.now()
            returned += give_back(run, Q(claim_expires_at__lt=now), now=now)
    return returned


def release(*, token: str) -> int:
    """Return everything a stopping driver still holds, at once instead of at the claims' end."""
    held = Unit.objects.filter(status=CLAIMED, claim_token=token)
    returned = 0
    for run_id in set(held.values_list("run_id", flat=True)):
        with transaction.atomic():
            run = lock(run_id)
            returned += give_back(run, Q(claim_token=token), now=clock.now())
    return returned


def give_back(run: Run, which: Q, *, now: datetime) -> int:
    """Claimed units become ready, their open attempts ``unknown``. The caller holds the run's lock."""
    units = list(Unit.objects.filter(which, run=run, status=CLAIMED))
    if not units:
        return 0
    keys = [unit.pk for unit in units]
    Attempt.objects.filter(unit_id__in=keys, state=states.AttemptState.INTENT).update(
        state=states.AttemptState.UNKNOWN, finished_at=now
    )
    for unit in units:
        # The request may have arrived: a 409 on the next attempt is then retried for a while.
        unit.history = {**unit.history, "may_have_arrived": True}
        unit.status, unit.claim_token, unit.claim_expires_at = READY, "", None
        unit.next_attempt_at = now
    Unit.objects.bulk_update(
        units, ["history", "status", "claim_token", "claim_expires_at", "next_attempt_at"], batch_size=200
    )
    calls = sum(unit.kind in SERVICE_KINDS for unit in units)
    Run.objects.filter(pk=run.pk).update(repeated_calls=F("repeated_calls") + calls)
    if run.is_final:
        skip_rest(run, now=now)
    return len(units)
