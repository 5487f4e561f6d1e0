"""People decide: a case per finished Full, evidence, decisions by two reviewers."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import public_id
from evaluations.models import Run


class CaseQuerySet(models.QuerySet["Case"]):
    def open(self) -> CaseQuerySet:
        return self.filter(status__in=[Case.Status.OPEN, Case.Status.NEEDS_MATERIAL])

    def for_queue(self) -> CaseQuerySet:
        return self.select_related(
            "run__version__entry", "run__registration__participant", "run__cycle", "run__score"
        )


class Case(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", _("open")
        NEEDS_MATERIAL = "needs_material", _("waiting for the participant")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        CLOSED = "closed", _("closed")

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="case")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.OPEN)
    round = models.PositiveSmallIntegerField(default=1, help_text=_("A new round asks for new approvals."))
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[Case]] = CaseQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=["status", "opened_at"]),)

    def __str__(self) -> str:
        return f"case of {self.run}"


class Finding(models.Model):
    """A piece of automatic evidence for the reviewer; never alters a score by itself."""

    class Severity(models.TextChoices):
        OK = "ok", _("holds")
        NOTE = "note", _("note")
        WARNING = "warning", _("warning")
        BLOCKER = "blocker", _("blocks publication")

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=60)
    severity = models.CharField(max_length=8, choices=Severity.choices)
    sentence = models.TextField()
    data = models.JSONField(default=dict)
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["case", "kind"], name="finding_once_per_case_and_kind"),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.severity}"


class Decision(models.Model):
    """One reviewer's word in one round of a case; two approvals by two people publish."""

    class Verdict(models.TextChoices):
        APPROVE = "approve", _("approve")
        REJECT = "reject", _("reject")
        NEEDS_MATERIAL = "needs_material", _("ask for material")

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="decisions")
    round = models.PositiveSmallIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=16, choices=Verdict.choices)
    reason = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["case", "round", "reviewer"],
                name="decision_one_per_reviewer_and_round",
                violation_error_message=_("You have decided in this round."),
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="decision_has_a_reason"),
        )

    def __str__(self) -> str:
        return f"{self.verdict} by {self.reviewer_id}"
