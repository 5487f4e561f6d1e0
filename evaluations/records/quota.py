"""Quota and cooldown as rows. Everything is read from the ledger; nothing is a stored counter.

The caller of ``reserve`` holds the lock on the registration's row, the caller of ``settle`` the run's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max, Sum

from evaluations import states
from evaluations.models import Cooldown, QuotaEntry, QuotaSlot, Run
from registration.models import Cycle, Registration
from registration.types import DEFAULT_POLICY, PolicyRow, QuotaEffect

POLICY: dict[str, PolicyRow] = {row.key: row for row in DEFAULT_POLICY}


@dataclass(frozen=True, slots=True)
class Usage:
    """Fulls of a registration in one scope: ``used`` counts those under way."""

    scope: str
    limit: int
    used: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def scope_of(cycle: Cycle, track: str) -> str:
    return "cycle" if cycle.full_scope == Cycle.FullScope.CYCLE else track


def used(registration: Registration, *, kind: str, track: str | None = None) -> int:
    """The sum of reserve (+1), refund (-1) and grant (-n) rows; of all tracks together without one."""
    rows = QuotaEntry.objects.filter(registration=registration, kind=kind)
    if track is not None:
        rows = rows.filter(track=track)
    return rows.aggregate(used=Sum("amount"))["used"] or 0


def usage(registration: Registration, *, track: str) -> Usage:
    cycle = registration.cycle
    scope = scope_of(cycle, track)
    within = None if scope == "cycle" else track
    number = used(registration, kind=states.RunKind.FULL, track=within)
    return Usage(scope=scope, limit=cycle.full_limit, used=number)


def starts_used(registration: Registration) -> int:
    """Fulls ever accepted in the cycle, refunded ones among them: the cap against abuse."""
    return QuotaEntry.objects.filter(
        registration=registration, kind=states.RunKind.FULL, act=QuotaEntry.Act.RESERVE
    ).count()


def reserve(run: Run, *, now: datetime) -> None:
    """Write the reservation of an accepted run, and for a Full the lowest free slot."""
    _write(run, act=QuotaEntry.Act.RESERVE, amount=1, reason="accepted", now=now)
    if run.is_smoke:
        return
    scope = scope_of(run.cycle, run.track)
    held = set(
        QuotaSlot.objects.filter(
            registration=run.registration_id, scope=scope, released_at__isnull=True
        ).values_list("number", flat=True)
    )
    number = next(n for n in range(1, len(held) + 2) if n not in held)
    QuotaSlot.objects.create(registration_id=run.registration_id, scope=scope, number=number, run=run)


def policy_key(run: Run, *, stood_still: bool = False) -> str:
    """The row of the policy table for a run that has ended."""
    if run.status in states.SCORED_ENDS:
        return str(run.status)
    if run.status == states.RunStatus.FAILED:
        return f"failed:{run.fault}"
    return cancel_key(run, stood_still=stood_still)


def cancel_key(run: Run, *, stood_still: bool) -> str:
    """The row for a run that is cancelled as it stands; ``stood_still``: our side kept it waiting."""
    if run.first_add_at is None:
        return "cancelled:before-first-add"
    return "cancelled:platform-stood-still" if stood_still else "cancelled:after-first-add"


def settle(run: Run, *, now: datetime, stood_still: bool = False) -> None:
    """Consume or refund what the run reserved, and start the cooldown, as the policy table says."""
    row = POLICY[policy_key(run, stood_still=stood_still)]
    if row.quota is QuotaEffect.USED:
        _write(run, act=QuotaEntry.Act.CONSUME, amount=0, reason=row.key, now=now)
    else:
        _write(run, act=QuotaEntry.Act.REFUND, amount=-1, reason=row.key, now=now)
        QuotaSlot.objects.filter(run=run).update(released_at=now)
    if row.cooldown and not run.is_smoke and run.cycle.cooldown_hours:
        Cooldown.objects.create(
            registration_id=run.registration_id, track=run.track, starts_at=now,
            ends_at=now + timedelta(hours=run.cycle.cooldown_hours), run=run, reason=row.key,
        )  # fmt: skip


def cooldowns(registration: Registration, *, now: datetime) -> dict[str, datetime]:
    """When the latest cooldown ends, by the tracks in which one is running."""
    running = Cooldown.objects.filter(registration=registration, ends_at__gt=now)
    return dict(running.values_list("track").annotate(ends=Max("ends_at")))


def cooldown_until(registration: Registration, *, track: str, now: datetime) -> datetime | None:
    return cooldowns(registration, now=now).get(track)


def _write(run: Run, *, act: str, amount: int, reason: str, now: datetime) -> None:
    QuotaEntry.objects.create(
        registration_id=run.registration_id, track=run.track, kind=run.kind, act=act, amount=amount,
        run=run, reason=reason, at=now,
    )  # fmt: skip
