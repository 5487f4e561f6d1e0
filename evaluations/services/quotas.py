"""The quota as a participant sees it: used and left, the ledger's lines, cooldowns, and what happens if."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from aml.web import audit, clock
from aml.web.errors import FieldRefusal
from aml.web.models import User
from evaluations import states
from evaluations.models import QuotaEntry
from evaluations.services.facts import Facts
from registration.models import Registration
from registration.models.entries import TrackChoice
from registration.services import guards
from registration.types import DEFAULT_POLICY, PolicyRow, QuotaEffect

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

#: What people call the rows of the policy table.
ENDS: dict[str, StrOrPromise] = {
    "succeeded": gettext_lazy("The run succeeds"),
    "partial": gettext_lazy("It completes partially: too many calls to your service fail for a ranked row"),
    "failed:participant": gettext_lazy("It fails through your service"),
    "failed:provider": gettext_lazy("It fails through the model provider"),
    "failed:platform": gettext_lazy("It fails through the platform"),
    "cancelled:before-first-add": gettext_lazy("You cancel before the first Add was sent"),
    "cancelled:after-first-add": gettext_lazy("You cancel later"),
    "cancelled:platform-stood-still": gettext_lazy("You cancel after our side stood still"),
}
LEDGER_LINES = 100
SIMULATED = {"succeeded": "succeeded", "partial": "partial", "failed": "failed:participant"}


@dataclass(frozen=True, slots=True)
class TrackQuota:
    track: str
    title: StrOrPromise
    used: int
    limit: int
    left: int
    cooldown_until: datetime | None
    smokes_used: int
    smokes_limit: int


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The state after a Full that ends so now."""

    key: str
    title: StrOrPromise
    used: int
    left: int
    cooldown_until: datetime | None
    effect: QuotaEffect


@dataclass(frozen=True, slots=True)
class QuotaView:
    """``ledger`` holds the newest ``LEDGER_LINES``, newest first."""

    scope: str
    tracks: list[TrackQuota]
    starts_used: int
    starts_limit: int
    ledger: list[QuotaEntry]


def quota_view(facts: Facts) -> QuotaView:
    registration = facts.registration
    entered = registration.entries.values_list("tracks__track", flat=True).distinct()
    tracks = [track for track in TrackChoice.values if track in set(entered)]
    return QuotaView(
        scope=registration.cycle.full_scope,
        tracks=[_track(facts, track) for track in tracks],
        starts_used=facts.starts_used,
        starts_limit=registration.cycle.start_limit,
        ledger=list(registration.quota_entries.select_related("run").order_by("-at", "-pk")[:LEDGER_LINES]),
    )


def _track(facts: Facts, track: str) -> TrackQuota:
    used = facts.fulls[track]
    return TrackQuota(
        track=track,
        title=TrackChoice(track).label,
        used=used.used,
        limit=used.limit,
        left=used.left,
        cooldown_until=facts.cooldowns.get(track),
        smokes_used=facts.smokes_used[track],
        smokes_limit=facts.cycle.smokes_per_track,
    )


def what_if(facts: Facts, *, track: str, keys: tuple[str, ...] = ()) -> list[WhatIf]:
    """For each end in the policy table: quota and cooldown after a Full that starts and ends so now.

    If one is under way in this track, its reservation is what is decided; else one more is reserved first.
    """
    under_way = (states.RunKind.FULL, track) in facts.active_runs
    base = facts.fulls[track].used - under_way
    rows = [row for row in DEFAULT_POLICY if not keys or row.key in keys]
    return [_after(facts, row, base=base, limit=facts.fulls[track].limit) for row in rows]


def _after(facts: Facts, row: PolicyRow, *, base: int, limit: int) -> WhatIf:
    used = base + (row.quota is QuotaEffect.USED)
    hours = facts.cycle.cooldown_hours if row.cooldown else 0
    return WhatIf(
        key=row.key,
        title=ENDS[row.key],
        used=used,
        left=max(0, limit - used),
        cooldown_until=facts.now + timedelta(hours=hours) if hours else None,
        effect=row.quota,
    )


def grant(
    *, actor: User, registration: Registration, track: str, kind: str, number: int, reason: str
) -> QuotaEntry:
    """An organiser gives further Fulls or Smokes: a line of the ledger with who and why."""
    guards.organiser(actor)
    if not 1 <= number <= 100:
        raise FieldRefusal("number", _("Expected a number from 1 to 100."))
    if not reason.strip():
        raise FieldRefusal("reason", _("Say why, in a sentence that the participant will read."))
    if track not in TrackChoice.values or kind not in states.RunKind.values:
        raise FieldRefusal("track", _("There is no such track or kind of run."))
    with transaction.atomic():
        locked = guards.locked_registration(registration)
        entry = QuotaEntry.objects.create(
            registration=locked, track=track, kind=kind, act=QuotaEntry.Act.GRANT, amount=-number,
            reason=reason.strip()[:300], at=clock.now(), actor=actor,
        )  # fmt: skip
        audit.record(
            "quota.granted", subject=f"registration:{locked.public_id}", actor=actor, actor_label="organiser",
            reason=reason.strip(), track=track, kind=kind, number=number,
        )  # fmt: skip
    return entry
