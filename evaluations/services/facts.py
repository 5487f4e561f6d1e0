"""What decides over a registration's checks and runs, each thing read at most once."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import F, Model, QuerySet, Window
from django.db.models.functions import RowNumber

from aml.web.models import PlatformState
from evaluations import states
from evaluations.engine.errors import Code
from evaluations.models import Attempt, Check, CycleTrack, QuotaEntry, Run
from evaluations.records import quota
from evaluations.services.tracks import open_tracks
from registration.models import Cycle, Registration
from registration.models.entries import TrackChoice

HOUR = timedelta(hours=1)
UNDER_WAY = (Check.Status.QUEUED, Check.Status.RUNNING)
Row = TypeVar("Row", bound=Model)


class Facts:
    """A registration's at ``now``: made anew for each page, and within the transaction that acts on them."""

    def __init__(self, registration: Registration, *, now: datetime) -> None:
        self.registration = registration
        self.now = now

    @property
    def cycle(self) -> Cycle:
        return self.registration.cycle

    @cached_property
    def maintenance(self) -> PlatformState | None:
        return PlatformState.objects.filter(pk=1, maintenance=True).first()

    @cached_property
    def tracks(self) -> dict[str, CycleTrack]:
        return open_tracks(self.cycle)

    @cached_property
    def active_runs(self) -> dict[tuple[str, str], Run]:
        """By kind and track."""
        runs = Run.objects.active().filter(registration=self.registration)
        return {(run.kind, run.track): run for run in runs}

    @cached_property
    def active_checks(self) -> dict[str, Check]:
        """By track."""
        checks = Check.objects.filter(registration=self.registration, status__in=UNDER_WAY)
        return {check.track: check for check in checks}

    @cached_property
    def fulls(self) -> dict[str, quota.Usage]:
        """By track; the same in each where Fulls are counted over the cycle."""
        return {track: quota.usage(self.registration, track=track) for track in TrackChoice.values}

    @cached_property
    def smokes_used(self) -> dict[str, int]:
        return {
            track: quota.used(self.registration, kind=states.RunKind.SMOKE, track=track)
            for track in TrackChoice.values
        }

    @cached_property
    def starts_used(self) -> int:
        return quota.starts_used(self.registration)

    @cached_property
    def cooldowns(self) -> dict[str, datetime]:
        return quota.cooldowns(self.registration, now=self.now)

    @cached_property
    def recent_checks(self) -> list[datetime]:
        """Asked for within the last hour, newest first. Checks that broke on our side don't count."""
        checks = Check.objects.filter(
            registration=self.registration, requested_at__gt=self.now - HOUR
        ).exclude(status=Check.Status.ERROR)
        return list(checks.order_by("-requested_at").values_list("requested_at", flat=True))

    @cached_property
    def recent_smokes(self) -> list[tuple[str, datetime]]:
        """Track and time of those within the last hour, newest first.

        Smokes that were refunded, because they failed through us or were cancelled at once, don't count.
        """
        smokes = (
            Run.objects.smokes()
            .filter(registration=self.registration, accepted_at__gt=self.now - HOUR)
            .exclude(quota_entries__act=QuotaEntry.Act.REFUND)
        )
        return list(smokes.order_by("-accepted_at").values_list("track", "accepted_at"))

    @cached_property
    def newest_checks(self) -> dict[tuple[int, str], Check]:
        """By version and track, whatever came of them; without their reports."""
        checks = Check.objects.filter(registration=self.registration).defer("report")
        newest = _newest(checks, "version", "track", by="requested_at")
        return {(check.version_id, check.track): check for check in newest}

    @cached_property
    def deciding_checks(self) -> dict[tuple[int, str], Check]:
        """By version and track: the newest that passed or failed. One that broke on our side says nothing."""
        checks = Check.objects.filter(
            registration=self.registration, status__in=[Check.Status.PASSED, Check.Status.FAILED]
        ).defer("report")
        newest = _newest(checks, "version", "track", by="finished_at")
        return {(check.version_id, check.track): check for check in newest}

    @cached_property
    def checked_endpoints(self) -> dict[int, dict[str, Any] | None]:
        """What the deciding checks tested, by their keys."""
        keys = [check.pk for check in self.deciding_checks.values()]
        return dict(Check.objects.filter(pk__in=keys).values_list("pk", "report__endpoint"))

    @cached_property
    def newest_runs(self) -> dict[tuple[int, str, str], Run]:
        """By version, track and kind."""
        runs = Run.objects.filter(registration=self.registration)
        newest = _newest(runs, "version", "track", "kind", by="accepted_at")
        return {(run.version_id, run.track, run.kind): run for run in newest}

    @cached_property
    def passed_smokes(self) -> dict[tuple[int, str], Run]:
        """The newest by version and track."""
        smokes = Run.objects.smokes().filter(
            registration=self.registration, status=states.RunStatus.SUCCEEDED
        )
        newest = _newest(smokes, "version", "track", by="finished_at")
        return {(run.version_id, run.track): run for run in newest}

    @cached_property
    def credit_is_gone(self) -> bool:
        """A run of anybody's waits because our account with the model provider is empty."""
        waiting = Run.objects.active().filter(pause_reason=states.PauseReason.PROVIDER)
        return Attempt.objects.filter(run__in=waiting, code=Code.MODEL_CREDIT).exists()


def _newest(rows: QuerySet[Row], *group: str, by: str) -> list[Row]:
    """The row of each group that is last by ``by``."""
    last = [F(by).desc(), F("pk").desc()]
    place = Window(RowNumber(), partition_by=[F(name) for name in group], order_by=last)
    return list(rows.annotate(place_in_group=place).filter(place_in_group=1))
