"""Where each usable version stands in each of its tracks: last check, Smoke and Full, and what may start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from aml.web import clock
from evaluations import states
from evaluations.models import Check, Run
from evaluations.services.checks import UNDER_WAY, may_check
from evaluations.services.decisions import Decision
from evaluations.services.eligibility import may_start
from registration.models import Registration, Version
from registration.models.entries import TrackChoice

SETUP = frozenset({"check_required"})
AGAIN = frozenset({"smoke_required", "smoke_stale"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackStanding:
    version: Version
    track: str
    check: Check | None
    smoke: Run | None
    full: Run | None
    may_check: Decision
    may_smoke: Decision
    may_full: Decision

    @property
    def title(self) -> str:
        return str(TrackChoice(self.track).label)

    @property
    def active_check(self) -> Check | None:
        return self.check if self.check and self.check.status in UNDER_WAY else None

    @property
    def active_run(self) -> Run | None:
        """A Full before a Smoke."""
        runs = (self.full, self.smoke)
        return next((run for run in runs if run is not None and not run.is_final), None)

    @property
    def wants(self) -> str:
        """What comes next: check, smoke or full."""
        if self.may_full.code in SETUP:
            return "check"
        return "smoke" if self.may_full.code in AGAIN else "full"


def standings_of(registration: Registration) -> list[TrackStanding]:
    """The newest usable version of each entry in each of its tracks, the newest version first."""
    now = clock.now()
    return [
        standing(version, track.track, now=now)
        for version in _newest_versions(registration)
        for track in version.entry.tracks.all()
    ]


def standing(version: Version, track: str, *, now: datetime) -> TrackStanding:
    runs = Run.objects.filter(version=version, track=track).order_by("-accepted_at")
    return TrackStanding(
        version=version,
        track=track,
        check=Check.objects.filter(version=version, track=track).order_by("-requested_at").first(),
        smoke=runs.filter(kind=states.RunKind.SMOKE).first(),
        full=runs.filter(kind=states.RunKind.FULL).first(),
        may_check=may_check(version=version, track=track, now=now),
        may_smoke=may_start(version=version, track=track, kind=states.RunKind.SMOKE, now=now),
        may_full=may_start(version=version, track=track, kind=states.RunKind.FULL, now=now),
    )


def _newest_versions(registration: Registration) -> list[Version]:
    versions = (
        Version.objects.usable()
        .filter(entry__registration=registration)
        .select_related("entry")
        .prefetch_related("entry__tracks")
        .order_by("-created_at", "-pk")
    )
    newest: dict[int, Version] = {}
    for version in versions:
        version.entry.registration = registration
        newest.setdefault(version.entry_id, version)
    return list(newest.values())
