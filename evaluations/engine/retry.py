"""Retry as a value: a call's history and its newest failure say "wait" or "stop". Nothing here sleeps.

The rules are contract.md's "Retries"; what is retried at all is ``contract.RETRY_TABLE``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from evaluations.engine.contract import Decision, Limits, decision_for
from evaluations.engine.errors import Code
from evaluations.engine.types import Failure, Operation


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How often one call met one 5xx, and since when."""

    status: int
    count: int
    since: float


@dataclass(frozen=True, slots=True)
class CallHistory:
    """What one logical call has been through; the empty one is that of a call never tried."""

    failures: int = 0  # every failed exchange
    attempts: int = 0  # those that count
    successes_seen: int = 0  # of the run, at the newest failure
    may_have_arrived: bool = False  # an attempt before the newest may have reached the service
    first_conflict_at: float | None = None
    server_errors: tuple[StatusCount, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "failures": self.failures,
            "attempts": self.attempts,
            "successes_seen": self.successes_seen,
            "may_have_arrived": self.may_have_arrived,
            "first_conflict_at": self.first_conflict_at,
            "server_errors": [[item.status, item.count, item.since] for item in self.server_errors],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> CallHistory:
        """The inverse of ``to_json``; ``{}`` is the empty history."""
        known = {**cls().to_json(), **value}
        errors = tuple(StatusCount(*item) for item in known.pop("server_errors"))
        return cls(**known, server_errors=errors)


class StopReason(StrEnum):
    FINAL = "final"  # the table says so
    ATTEMPTS = "attempts"  # used up
    POISONED = "poisoned"  # the same 5xx too often for too long
    CONFLICT = "conflict"  # 409 beyond its window


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float
    history: CallHistory


@dataclass(frozen=True, slots=True)
class Stop:
    history: CallHistory
    reason: StopReason


def decide(
    *,
    history: CallHistory,
    failure: Failure,
    operation: Operation,
    now: float,
    run_successes: int,
    limits: Limits,
    jitter: float,
) -> Wait | Stop:
    """Again, and when? ``run_successes`` counts the successful calls of the run so far, this one never
    among them; ``jitter`` is uniform in [0, 1).

    The returned history belongs in the ledger either way. A failure that is the provider's or ours
    follows its own ``retryable`` and never counts.
    """
    after = _recorded(history=history, failure=failure, now=now, run_successes=run_successes)
    reason = _stop_reason(
        history=history, after=after, failure=failure, operation=operation, now=now, limits=limits
    )
    if reason is not None:
        return Stop(history=after, reason=reason)
    seconds = _wait_seconds(failure=failure, failures=after.failures, limits=limits, jitter=jitter)
    return Wait(seconds=seconds, history=after)


def _recorded(*, history: CallHistory, failure: Failure, now: float, run_successes: int) -> CallHistory:
    conflict = failure.code == Code.CONFLICT
    counts = _counts(history=history, failure=failure, run_successes=run_successes)
    return replace(
        history,
        failures=history.failures + 1,
        attempts=history.attempts + counts,
        successes_seen=max(run_successes, history.successes_seen),
        may_have_arrived=history.may_have_arrived or (failure.reached and not conflict),
        first_conflict_at=now
        if conflict and history.first_conflict_at is None
        else history.first_conflict_at,
        server_errors=_with_status(errors=history.server_errors, status=failure.status, now=now),
    )


def _counts(*, history: CallHistory, failure: Failure, run_successes: int) -> bool:
    """Only if another call succeeded since the failure before: then the fault is this call's alone.

    A 409 has its time window instead. A 429 says that we are too fast, not that the call is bad: while
    others succeed it does not count, and while none does nothing counts.
    """
    decision = decision_for(failure.code, operation=Operation.ADD)
    if decision is not Decision.RETRY or failure.code == Code.RATE_LIMITED:
        return False
    return run_successes > history.successes_seen


def _with_status(
    *, errors: tuple[StatusCount, ...], status: int | None, now: float
) -> tuple[StatusCount, ...]:
    if status is None or status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return errors
    met = {item.status: item for item in errors}
    before = met.get(status, StatusCount(status=status, count=0, since=now))
    met[status] = replace(before, count=before.count + 1)
    return tuple(met.values())


def _stop_reason(
    *,
    history: CallHistory,
    after: CallHistory,
    failure: Failure,
    operation: Operation,
    now: float,
    limits: Limits,
) -> StopReason | None:
    decision = decision_for(failure.code, operation=operation)
    if decision is None:
        return None if failure.retryable else StopReason.FINAL
    if decision is Decision.FINAL:
        return StopReason.FINAL
    if decision is Decision.CONFLICT:
        return _conflict_stop(history=history, after=after, now=now, limits=limits)
    if after.attempts >= limits.attempts(operation):
        return StopReason.ATTEMPTS
    if _poisoned(history=after, status=failure.status, now=now, limits=limits):
        return StopReason.POISONED
    return None


def _conflict_stop(
    *, history: CallHistory, after: CallHistory, now: float, limits: Limits
) -> StopReason | None:
    if not history.may_have_arrived:
        return StopReason.FINAL
    since = now if after.first_conflict_at is None else after.first_conflict_at
    return StopReason.CONFLICT if now - since >= limits.conflict_window else None


def _poisoned(*, history: CallHistory, status: int | None, now: float, limits: Limits) -> bool:
    return any(
        item.status == status
        and item.count >= limits.poisoned_failures
        and now - item.since >= limits.poisoned_window
        for item in history.server_errors
    )


def _wait_seconds(*, failure: Failure, failures: int, limits: Limits, jitter: float) -> float:
    """Retry-After as asked, spread a little so that calls told the same do not come back as one."""
    asked = failure.retry_after
    if asked is None and failure.code == Code.RATE_LIMITED:
        asked = limits.rate_limit_wait
    if asked is not None:
        return min(max(asked, 0.0), limits.retry_after_cap) + jitter * limits.backoff_base
    # Past 2**30 the cap has long been reached, and a float would overflow one day.
    highest = min(limits.backoff_cap, limits.backoff_base * 2.0 ** min(failures, 30))
    return limits.backoff_base + jitter * max(0.0, highest - limits.backoff_base)
