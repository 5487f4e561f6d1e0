"""What makes two scores comparable: the evaluation contract, a cycle's tracks, and baselines."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmarks.models import PackRelease
from registration.models import Cycle
from registration.models.entries import TrackChoice


class EvaluationContract(models.Model):
    """Packs, rendered prompts, models and parameters, scorers, aggregation: one hash (interfaces.md)."""

    hash = models.CharField(max_length=64, unique=True)
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    spec = models.JSONField()
    full_pack = models.ForeignKey(PackRelease, on_delete=models.PROTECT, related_name="+")
    smoke_pack = models.ForeignKey(PackRelease, on_delete=models.PROTECT, related_name="+")
    answer_model = models.JSONField(help_text=_("Model name and parameters; no address, no key."))
    judge_model = models.JSONField(help_text=_("Model name and parameters; no address, no key."))
    offline = models.BooleanField(default=False)
    calibrated = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.hash[:12]

    @property
    def official(self) -> bool:
        return self.calibrated and not self.offline

    def is_official_in(self, cycle: Cycle) -> bool:
        """Whether a result under this contract is an official one of the cycle."""
        return cycle.is_official and self.official


class CycleTrack(models.Model):
    """A track of a cycle: which contract it is scored under."""

    cycle = models.ForeignKey(Cycle, on_delete=models.PROTECT, related_name="tracks")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    contract = models.ForeignKey(
        EvaluationContract, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    is_open = models.BooleanField(_("open"), default=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["cycle", "track"], name="cycle_track_once"),
            models.CheckConstraint(condition=Q(track__in=TrackChoice.values), name="cycle_track_known"),
        )

    def __str__(self) -> str:
        return f"{self.cycle}: {self.track}"


class Baseline(models.Model):
    """An arm that the platform ran itself under a contract: an unranked row of the board."""

    class Arm(models.TextChoices):
        NO_MEMORY = "no-memory", _("No memory")
        FULL_TEXT = "full-text", _("Full-text search")
        ORACLE = "oracle", _("Oracle (gold evidence)")

    contract = models.ForeignKey(EvaluationContract, on_delete=models.PROTECT, related_name="baselines")
    arm = models.CharField(max_length=16, choices=Arm.choices)
    overall = models.FloatField()
    ci_low = models.FloatField()
    ci_high = models.FloatField()
    data = models.JSONField()
    measured_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["contract", "arm"], name="baseline_arm_once_per_contract"),
            models.CheckConstraint(
                condition=Q(
                    ci_low__gte=0, ci_low__lte=F("overall"), ci_high__gte=F("overall"), ci_high__lte=1
                ),
                name="baseline_interval_holds_score",
            ),
        )

    def __str__(self) -> str:
        return f"{self.arm} under {self.contract}"
