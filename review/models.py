"""People decide: a case per finished Full, evidence, decisions by two reviewers."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import public_id
from evaluations.models import Run


class CaseQuerySet(models.QuerySet["Case"]):
    def open(self) -> CaseQuerySet:
        return self.filter(status__in=Case.UNDECIDED)

    def for_queue(self) -> CaseQuerySet:
        return self.select_related(
            "run__version__entry", "run__registration__participant", "run__cycle", "run__score"
        ).prefetch_related("findings")


class Case(models.Model):
    class Status(models.TextChoices):
        OPEN = "open", _("open")
        NEEDS_MATERIAL = "needs_material", _("waiting for the participant")
        APPROVED = "approved", _("approved")
        REJECTED = "rejected", _("rejected")
        CLOSED = "closed", _("closed")

    #: Two approvals by two people publish.
    APPROVALS: ClassVar[int] = 2
    UNDECIDED: ClassVar[tuple[str, ...]] = (Status.OPEN, Status.NEEDS_MATERIAL)

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="case")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.OPEN)
    round = models.PositiveSmallIntegerField(default=1, help_text=_("A new round asks for new approvals."))
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[Case]] = CaseQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=["status", "opened_at"]),)
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=["open", "needs_material"], closed_at__isnull=True)
                | Q(status__in=["approved", "rejected", "closed"], closed_at__isnull=False),
                name="case_decided_has_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"case of {self.run}"

    @property
    def is_undecided(self) -> bool:
        return self.status in self.UNDECIDED


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
    sentence = models.TextField(help_text=_("English, with places that the data fill after translation."))
    data = models.JSONField(default=dict)
    found_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["case", "kind"], name="finding_once_per_case_and_kind"),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.severity}"

    @property
    def text(self) -> str:
        return str(gettext(self.sentence) % self.data)


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
    checklist = models.JSONField(
        default=list, help_text=_("Ids of what the reviewer confirms to have looked at.")
    )
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


class Material(models.Model):
    """A participant's answer to what a reviewer asked for in one round of a case."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="materials")
    round = models.PositiveSmallIntegerField()
    text = models.TextField()
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["case", "round"],
                name="material_one_answer_per_round",
                violation_error_message=_("This request has been answered."),
            ),
            models.CheckConstraint(condition=~Q(text=""), name="material_has_a_text"),
        )

    def __str__(self) -> str:
        return f"answer in round {self.round} of {self.case_id}"
