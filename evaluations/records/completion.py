"""Completing attempts: what a call brought is recorded once, and what it held up becomes ready.

Everything here runs under the run's lock, in the turn's transaction. A driver whose claim has passed
to somebody else, or whose attempt was written off, changes nothing (fenced).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet

from aml.lib.canonical import sha256_hex
from evaluations import states
from evaluations.engine import flow, retry
from evaluations.engine.contract import Limits
from evaluations.engine.flow import FlowState
from evaluations.engine.records import ANSWERED, ANSWERED_TRIES
from evaluations.engine.types import Exchange, Failure, Fault
from evaluations.models import Attempt, Lane, Result, Run, Unit
from evaluations.models.ledger import SERVICE_KINDS, KindChoice
from evaluations.records.flows import OPERATION, limits_of, model_flow, service_flow

_random = random.SystemRandom()

BY_RULE = "BY_RULE"  # a judge unit that no verdict is needed for


@dataclass(frozen=True, slots=True)
class Finished:
    """One attempt that ended. ``failure`` is None on success; ``data``, ``score`` and ``body`` make the result."""

    unit: Unit
    attempt: Attempt
    failure: Failure | None
    exchange: Exchange | None = None
    latency: float | None = None
    data: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    exchange_body: str = ""
    score: float | None = None
    reason: str = ""
    needs_judge: bool = False


@dataclass(slots=True)
class Applied:
    """What a batch did: kept for the turn's status decisions."""

    recorded: int = 0
    service_ok: bool = False
    models_ok: bool = False
    finished_units: list[Unit] = field(default_factory=list)


def apply(run: Run, batch: Sequence[Finished], *, token: str, now: datetime) -> Applied:
    """Record a batch and move on what waited for it. Fenced items are dropped."""
    held = _still_held(run, batch, token=token)
    applied = Applied(recorded=len(held))
    if not held:
        return applied
    limits = limits_of(run)
    service, models = service_flow(run, limits=limits), model_flow(run, limits=limits)
    for item in held:
        if item.unit.kind in SERVICE_KINDS:
            service = _settle(item, service, limits=limits, now=now)
            applied.service_ok |= item.failure is None
        else:
            models = _settle(item, models, limits=limits, now=now)
            applied.models_ok |= item.failure is None
    _write(run, held, service=service, models=models)
    applied.finished_units = [item.unit for item in held if item.unit.status in states.UNIT_FINAL]
    _move_on(run, held, now=now)
    return applied


def _still_held(run: Run, batch: Sequence[Finished], *, token: str) -> list[Finished]:
    """Of the batch, what this token still holds; the units' rows are read anew."""
    keys = [item.unit.pk for item in batch]
    rows = Unit.objects.filter(pk__in=keys, run=run, status=states.UnitStatus.CLAIMED, claim_token=token)
    units = rows.select_related("lane").in_bulk()
    open_attempts = set(
        Attempt.objects.filter(
            pk__in=[item.attempt.pk for item in batch], state=states.AttemptState.INTENT
        ).values_list("pk", flat=True)
    )
    return [
        _with_unit(item, units[item.unit.pk])
        for item in batch
        if item.attempt.pk in open_attempts and item.unit.pk in units
    ]


def _with_unit(item: Finished, unit: Unit) -> Finished:
    return Finished(**{name: getattr(item, name) for name in Finished.__slots__} | {"unit": unit})


def _settle(item: Finished, state: FlowState, *, limits: Limits, now: datetime) -> FlowState:
    """Decide about the unit and write attempt and unit fields; returns the run's flow afterwards."""
    _fill_attempt(item, now=now)
    failure = item.failure
    own = failure is not None and failure.code in ANSWERED
    state_after = flow.on_result(
        state,
        operation=OPERATION[item.unit.kind],
        ok=failure is None,
        retryable=failure is not None
        and failure.retryable
        and not own
        and failure.fault is not Fault.PLATFORM,
        began_at=item.attempt.started_at.timestamp(),
        now=now.timestamp(),
        limits=limits,
    )
    if failure is None:
        _close(item.unit, status=states.UnitStatus.DONE, now=now)
    else:
        _settle_failure(item, failure, successes=state.successes, limits=limits, now=now)
    return state_after


def _settle_failure(
    item: Finished, failure: Failure, *, successes: int, limits: Limits, now: datetime
) -> None:
    unit = item.unit
    decision = retry.decide(
        history=retry.CallHistory.from_json(unit.history),
        failure=failure,
        operation=OPERATION[unit.kind],
        now=now.timestamp(),
        run_successes=successes,
        limits=limits,
        jitter=_random.random(),
    )
    unit.history = decision.history.to_json()
    if _must_stop(failure, decision):
        _close(unit, status=states.UnitStatus.FAILED, now=now, code=failure.code, fault=failure.fault)
        return
    seconds = decision.seconds if isinstance(decision, retry.Wait) else limits.backoff_cap
    unit.status, unit.claim_token, unit.claim_expires_at = states.UnitStatus.READY, "", None
    unit.next_attempt_at = item.attempt.wait_until = now + timedelta(seconds=seconds)


def _must_stop(failure: Failure, decision: retry.Wait | retry.Stop) -> bool:
    """Only the participant's failures end a call; a provider's own refusal of one call waits for people.

    Everything else of the provider's or ours is tried again: it can't cost anybody anything.
    """
    if failure.fault is Fault.PARTICIPANT:
        return isinstance(decision, retry.Stop)
    return failure.code in ANSWERED and decision.history.failures >= ANSWERED_TRIES


def _close(unit: Unit, *, status: str, now: datetime, code: str = "", fault: str = "") -> None:
    unit.status, unit.claim_token, unit.claim_expires_at = status, "", None
    unit.finished_at, unit.code, unit.fault = now, code, fault


def _fill_attempt(item: Finished, *, now: datetime) -> None:
    attempt, failure, exchange = item.attempt, item.failure, item.exchange
    attempt.state, attempt.finished_at, attempt.ok = states.AttemptState.DONE, now, failure is None
    attempt.latency, attempt.exchange = item.latency, item.exchange_body
    if failure is not None:
        attempt.code, attempt.fault, attempt.sentence = failure.code, failure.fault, failure.sentence
        attempt.http_status, attempt.pointer = failure.status, (failure.pointer or "")[:500]
    if exchange is not None:
        timing = exchange.timing
        attempt.http_status = exchange.status
        attempt.latency = timing.latency
        attempt.timing = {
            "dns": timing.dns,
            "connect": timing.connect,
            "tls": timing.tls,
            "first_byte": timing.first_byte,
        }
        attempt.request_size, attempt.response_size = len(exchange.request_body), exchange.response_size
        attempt.request_sha256 = sha256_hex(exchange.request_body)
        attempt.response_sha256 = exchange.response_sha256 or ""


_ATTEMPT_FIELDS = [
    "state", "finished_at", "ok", "latency", "exchange", "code", "fault", "sentence", "http_status", "pointer",
    "timing", "request_size", "request_sha256", "response_size", "response_sha256", "wait_until",
]  # fmt: skip
_UNIT_FIELDS = [
    "status", "claim_token", "claim_expires_at", "finished_at", "code", "fault", "history", "next_attempt_at",
]  # fmt: skip


def _write(run: Run, held: list[Finished], *, service: FlowState, models: FlowState) -> None:
    # One INSERT … ON CONFLICT UPDATE a table instead of a CASE per row and column: the rows exist,
    # and the run's lock keeps them from changing meanwhile.
    Attempt.objects.bulk_create(
        [item.attempt for item in held],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=_ATTEMPT_FIELDS,
    )
    _write_units([item.unit for item in held])
    Result.objects.bulk_create([_result(run, item) for item in held if _has_result(item)])
    run.flow, run.model_flow = service.to_json(), models.to_json()
    run.successes, run.model_successes = service.successes, models.successes
    Run.objects.filter(pk=run.pk).update(
        flow=run.flow, model_flow=run.model_flow, successes=run.successes, model_successes=run.model_successes
    )


def _write_units(units: list[Unit]) -> None:
    """The many that are done differ in nothing but their key: one plain UPDATE. The rest go row by row."""
    done = [unit for unit in units if unit.status == states.UnitStatus.DONE]
    if done:
        Unit.objects.filter(pk__in=[unit.pk for unit in done]).update(
            status=states.UnitStatus.DONE,
            claim_token="",
            claim_expires_at=None,
            finished_at=done[0].finished_at,
        )
    others = [unit for unit in units if unit.status != states.UnitStatus.DONE]
    if others:
        Unit.objects.bulk_create(
            others, update_conflicts=True, unique_fields=["id"], update_fields=_UNIT_FIELDS
        )


def _has_result(item: Finished) -> bool:
    return item.failure is None and item.unit.kind != KindChoice.ADD


def _result(run: Run, item: Finished) -> Result:
    return Result(
        unit=item.unit, run=run, kind=item.unit.kind, ask=item.unit.ask, data=item.data, body=item.body,
        score=item.score, reason=item.reason,
    )  # fmt: skip


def _move_on(run: Run, held: list[Finished], *, now: datetime) -> None:
    final = [item for item in held if item.unit.status in states.UNIT_FINAL]
    _open_asks(run, final, now=now)
    for item in final:
        if item.unit.kind == KindChoice.ADD and item.unit.status == states.UnitStatus.FAILED:
            _close_lane(item.unit, now=now)
    _advance_lanes([item.unit for item in final if item.unit.kind in SERVICE_KINDS], now=now)


def _open_asks(run: Run, final: list[Finished], *, now: datetime) -> None:
    """Answers follow Searches, judges follow answers; what can't or need not follow is skipped."""
    ready: dict[str, list[str]] = {KindChoice.ANSWER: [], KindChoice.JUDGE: []}
    by_rule: list[str] = []
    for item in final:
        unit, done = item.unit, item.unit.status == states.UnitStatus.DONE
        if unit.kind == KindChoice.SEARCH and done:
            ready[KindChoice.ANSWER].append(unit.ask)
        elif unit.kind == KindChoice.ANSWER and done:
            (ready[KindChoice.JUDGE] if item.needs_judge else by_rule).append(unit.ask)
        elif not done and unit.kind in (KindChoice.SEARCH, KindChoice.ANSWER):
            _skip(Unit.objects.filter(run=run, ask=unit.ask), code=unit.code, fault=unit.fault, now=now)
    for kind, asks in ready.items():
        if asks:
            Unit.objects.filter(run=run, ask__in=asks, kind=kind, status=states.UnitStatus.WAITING).update(
                status=states.UnitStatus.READY, next_attempt_at=now
            )
    if by_rule:
        judges = Unit.objects.filter(run=run, ask__in=by_rule, kind=KindChoice.JUDGE)
        _skip(judges, code=BY_RULE, fault="", now=now)


def _skip(units: QuerySet[Unit], *, code: str, fault: str, now: datetime) -> None:
    units.filter(status__in=[states.UnitStatus.WAITING, states.UnitStatus.READY]).update(
        status=states.UnitStatus.SKIPPED, code=code, fault=fault, finished_at=now
    )


def _close_lane(unit: Unit, *, now: datetime) -> None:
    """A history with a hole in it is no longer the sample: what follows the failed Add is not asked."""
    later = Unit.objects.filter(lane=unit.lane_id, step__gt=unit.step)
    _skip(later, code=unit.code, fault=unit.fault, now=now)
    Lane.objects.filter(pk=unit.lane_id).update(closed_code=unit.code)
    unit.lane.closed_code = unit.code


def _advance_lanes(units: list[Unit], *, now: datetime) -> None:
    """Open the next step of each lane whose step has no Add or Search left."""
    lanes = {unit.lane_id: unit.lane for unit in units if unit.step == unit.lane.step}
    if not lanes:
        return
    still_open = set(
        Unit.objects.filter(
            lane__in=lanes, kind__in=SERVICE_KINDS, step__in={lane.step for lane in lanes.values()}
        )
        .exclude(status__in=states.UNIT_FINAL)
        .values_list("lane_id", "step")
    )
    passed = [key for key, lane in lanes.items() if (key, lane.step) not in still_open]
    closed = [key for key in passed if lanes[key].closed_code]
    Lane.objects.filter(pk__in=closed).update(step=F("steps"), remaining=0)
    going = [key for key in passed if key not in closed]
    Lane.objects.filter(pk__in=going).update(step=F("step") + 1, remaining=F("remaining") - 1)
    next_calls = Unit.objects.filter(
        lane__in=going, step=F("lane__step"), kind__in=SERVICE_KINDS, status=states.UnitStatus.WAITING
    )
    Unit.objects.filter(pk__in=next_calls.values("pk")).update(
        status=states.UnitStatus.READY, next_attempt_at=now
    )
