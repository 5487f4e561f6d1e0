"""Where each usable version stands in each of its tracks: last check, Smoke and Full, and what may start."""

from __future__ import annotations

from dataclasses import dataclass

from evaluations import states
from evaluations.models import Check, Run
from evaluations.services.checks import may_check
from evaluations.services.decisions import Decision
from evaluations.services.eligibility import may_start
from evaluations.services.facts import UNDER_WAY, Facts
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


def standings_of(facts: Facts) -> list[TrackStanding]:
    """The newest usable version of each entry in each of its tracks, the newest version first."""
    return [
        standing(version, track.track, facts=facts)
        for version in _newest_versions(facts.registration)
        for track in version.entry.tracks.all()
    ]


def standing(version: Version, track: str, *, facts: Facts) -> TrackStanding:
    return TrackStanding(
        version=version,
        track=track,
        check=facts.newest_checks.get((version.pk, track)),
        smoke=facts.newest_runs.get((version.pk, track, states.RunKind.SMOKE)),
        full=facts.newest_runs.get((version.pk, track, states.RunKind.FULL)),
        may_check=may_check(version=version, track=track, facts=facts),
        may_smoke=may_start(version=version, track=track, kind=states.RunKind.SMOKE, facts=facts),
        may_full=may_start(version=version, track=track, kind=states.RunKind.FULL, facts=facts),
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
