"""Runs: one Smoke or Full of one version in one track, its events and its scores."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import new_secret, public_id
from aml.web.models import User
from benchmarks.models import PackRelease
from evaluations import states
from evaluations.models.contracts import EvaluationContract
from registration.models import Cycle, Registration, Version
from registration.models.entries import TrackChoice

_ACTIVE = [str(state) for state in sorted(states.ACTIVE)]


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> RunQuerySet:
        return self.filter(status__in=states.ACTIVE)

    def runnable(self) -> RunQuerySet:
        """Runs whose units may be claimed; an endpoint or provider pause still sends probes."""
        return self.filter(status__in=states.ACTIVE).exclude(pause_reason=states.PauseReason.OPERATOR)

    def fulls(self) -> RunQuerySet:
        return self.filter(kind=states.RunKind.FULL)

    def smokes(self) -> RunQuerySet:
        return self.filter(kind=states.RunKind.SMOKE)

    def visible_to(self, user: User) -> RunQuerySet:
        return self.filter(registration__participant__members__user=user)


class Run(models.Model):
    """What was decided at acceptance is frozen in ``spec``; status moves only through ``transition``."""

    #: Set at acceptance and never changed.
    FROZEN_FIELDS: ClassVar[tuple[str, ...]] = (
        "version_id", "registration_id", "cycle_id", "track", "kind", "label", "contract_id", "pack_id", "secret",
        "spec", "accepted_at",
    )  # fmt: skip

    #: Rules of the cycle that decide how a run ends, in ``spec`` as they were when it was accepted.
    ENDING_RULES: ClassVar[tuple[str, ...]] = (
        "outage_end_hours", "zero_share_succeeded", "zero_share_partial",
    )  # fmt: skip

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="runs")
    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="runs")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    kind = models.CharField(max_length=5, choices=states.RunKind.choices)
    label = models.CharField(_("label"), max_length=80)
    contract = models.ForeignKey(EvaluationContract, on_delete=models.PROTECT, related_name="runs")
    pack = models.ForeignKey(PackRelease, on_delete=models.PROTECT, related_name="+")
    secret = models.BinaryField(default=new_secret, editable=False)
    spec = models.JSONField(
        help_text=_("Endpoints, limits, statements, rules version, code revision at acceptance.")
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    status = models.CharField(
        max_length=10, choices=states.RunStatus.choices, default=states.RunStatus.QUEUED
    )
    phase = models.CharField(max_length=12, choices=states.Phase.choices, default=states.Phase.STARTING)
    pause_reason = models.CharField(max_length=10, choices=states.PauseReason.choices, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    publication = models.CharField(
        max_length=16, choices=states.Publication.choices, default=states.Publication.PRIVATE
    )
    publication_reason = models.TextField(blank=True)
    fault = models.CharField(max_length=12, blank=True, help_text=_("Whose fault a failure was."))
    code = models.CharField(max_length=40, blank=True)
    sentence = models.TextField(blank=True)

    accepted_at = models.DateTimeField(default=timezone.now)
    start_deadline_at = models.DateTimeField()
    planned_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When its lanes and units were written.")
    )
    first_add_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    service_released_at = models.DateTimeField(null=True, blank=True, help_text=_("You may stop."))

    flow = models.JSONField(default=dict, help_text=_("Windows, breaker and outage of the memory service."))
    model_flow = models.JSONField(default=dict, help_text=_("Breaker of the model providers."))
    successes = models.PositiveBigIntegerField(default=0, help_text=_("Successful calls to the service."))
    model_successes = models.PositiveBigIntegerField(default=0)
    pace = models.JSONField(
        default=list, help_text=_("Newest samples of [time, done by kind], for rate and ETA.")
    )
    event_count = models.PositiveIntegerField(default=0)
    repeated_calls = models.PositiveIntegerField(
        default=0, help_text=_("Calls sent again after a crash of ours.")
    )

    objects: ClassVar[models.Manager[Run]] = RunQuerySet.as_manager()

    class Meta:
        indexes = (
            models.Index(fields=["kind", "accepted_at"], condition=Q(status__in=_ACTIVE), name="run_active"),
            models.Index(fields=["registration", "-accepted_at"]),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["registration", "track"],
                condition=Q(kind="full", status__in=_ACTIVE),
                name="run_one_active_full_per_registration_and_track",
            ),
            models.UniqueConstraint(
                fields=["registration", "track"],
                condition=Q(kind="smoke", status__in=_ACTIVE),
                name="run_one_active_smoke_per_registration_and_track",
            ),
            models.UniqueConstraint(
                fields=["registration", "label"], name="run_label_unique_per_registration"
            ),
            models.CheckConstraint(condition=Q(status__in=states.RunStatus.values), name="run_status_known"),
            models.CheckConstraint(condition=Q(kind__in=states.RunKind.values), name="run_kind_known"),
            models.CheckConstraint(condition=Q(phase__in=states.Phase.values), name="run_phase_known"),
            models.CheckConstraint(
                condition=Q(publication__in=states.Publication.values), name="run_publication_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=_ACTIVE, finished_at__isnull=True)
                | ~Q(status__in=_ACTIVE) & Q(finished_at__isnull=False),
                name="run_finished_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(status="paused", paused_at__isnull=False) & ~Q(pause_reason="")
                | ~Q(status="paused") & Q(pause_reason="", paused_at__isnull=True),
                name="run_paused_has_a_reason",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | ~Q(fault="") & ~Q(code="") & ~Q(sentence=""),
                name="run_failed_says_why",
            ),
            models.CheckConstraint(
                condition=Q(kind="full") | Q(publication="private"), name="run_smoke_is_never_published"
            ),
            models.CheckConstraint(
                condition=Q(publication__in=["private", "withheld", "withdrawn"])
                | Q(status__in=["succeeded", "partial"]),
                name="run_only_scored_is_reviewed",
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.label}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self._refuse_frozen_changes()
        super().save(*args, **kwargs)

    def _refuse_frozen_changes(self) -> None:
        if not self.pk:
            return
        stored = type(self).objects.filter(pk=self.pk).values(*self.FROZEN_FIELDS).first() or {}
        changed = [name for name, value in stored.items() if _plain(getattr(self, name)) != _plain(value)]
        if changed:
            raise ValueError("fixed when the run was accepted: " + ", ".join(changed))

    def rule(self, name: str) -> float:
        """One of ``ENDING_RULES`` as accepted; the cycle's, of runs from before they were kept."""
        return float(self.spec.get(name, getattr(self.cycle, name)))

    @property
    def is_final(self) -> bool:
        return self.status in states.FINAL

    @property
    def is_smoke(self) -> bool:
        return self.kind == states.RunKind.SMOKE


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value


class RunEvent(models.Model):
    """Timeline, audit trail and outbox at once; numbered per run under the run's lock."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="events")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=40)
    status_from = models.CharField(max_length=10, blank=True)
    status_to = models.CharField(max_length=10, blank=True)
    actor = models.CharField(max_length=120, help_text=_("platform, participant, organiser, reviewer"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    sentence = models.TextField()
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("run", "number")
        constraints = (models.UniqueConstraint(fields=["run", "number"], name="run_event_number_unique"),)

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"


class RunScore(models.Model):
    """The figures of a finished run, recomputable from its results."""

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="score")
    overall = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    asks = models.PositiveIntegerField()
    scored = models.PositiveIntegerField()
    unscored = models.PositiveIntegerField()
    zero_by_failure = models.PositiveIntegerField()
    capabilities = models.JSONField()
    measures = models.JSONField(default=dict, help_text=_("Latency, tokens, error rate, calls."))
    computed_at = models.DateTimeField(default=timezone.now, editable=False)
    public_bundle = models.CharField(
        max_length=64, blank=True, editable=False, help_text=_("Body with the public bundle, once made.")
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(overall__isnull=True, ci_low__isnull=True, ci_high__isnull=True)
                | Q(ci_low__gte=0, ci_low__lte=F("overall"), ci_high__gte=F("overall"), ci_high__lte=1),
                name="run_score_interval_holds_score",
            ),
            models.CheckConstraint(
                condition=Q(asks=F("scored") + F("unscored") + F("zero_by_failure")),
                name="run_score_counts_add_up",
            ),
        )

    def __str__(self) -> str:
        return f"{self.overall} [{self.ci_low}, {self.ci_high}]"
