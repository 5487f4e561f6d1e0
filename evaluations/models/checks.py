"""Conformance checks: a report of named probes, without a Smoke's cost."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from aml.lib.ids import new_secret, public_id
from aml.web.models import User
from registration.models import Registration, Version
from registration.models.entries import TrackChoice


class CheckQuerySet(models.QuerySet["Check"]):
    def visible_to(self, user: User) -> CheckQuerySet:
        return self.filter(registration__participant__members__user=user)

    def passed(self) -> CheckQuerySet:
        return self.filter(status=Check.Status.PASSED)


class Check(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        PASSED = "passed", _("passed")
        FAILED = "failed", _("a gate failed")
        ERROR = "error", _("could not run (our side)")

    public_id = models.CharField(max_length=32, unique=True, default=public_id, editable=False)
    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="checks")
    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="checks")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    secret = models.BinaryField(default=new_secret, editable=False)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.QUEUED)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    requested_at = models.DateTimeField(default=timezone.now)
    claim_token = models.CharField(max_length=40, blank=True)
    claim_expires_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    done = models.PositiveSmallIntegerField(default=0)
    total = models.PositiveSmallIntegerField(default=0)
    report = models.JSONField(null=True, help_text=_("Checks by name; bodies are cut and masked."))
    sentence = models.TextField(blank=True)

    objects: ClassVar[models.Manager[Check]] = CheckQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["registration", "track"],
                condition=Q(status__in=["queued", "running"]),
                name="check_one_active_per_registration_and_track",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running"], finished_at__isnull=True)
                | Q(status__in=["passed", "failed", "error"], finished_at__isnull=False),
                name="check_finished_has_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"check of {self.version}"
