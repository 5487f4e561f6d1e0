"""Evaluation Keys: what a participant's script shows to us. Only a keyed hash is stored."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from registration.models.participants import Registration


class EvaluationKeyQuerySet(models.QuerySet["EvaluationKey"]):
    def live(self, now: datetime | None = None) -> EvaluationKeyQuerySet:
        return self.filter(revoked_at__isnull=True)


class EvaluationKey(models.Model):
    MAX_LIVE: ClassVar[int] = 2  # two, so that one can be rotated in without a gap

    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="keys")
    key_id = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    slot = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[EvaluationKey]] = EvaluationKeyQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(slot__in=[1, 2]), name="evaluation_key_slot_one_or_two"),
            models.UniqueConstraint(
                fields=["registration", "slot"],
                condition=Q(revoked_at__isnull=True),
                name="evaluation_key_two_live_per_registration",
            ),
        )

    def __str__(self) -> str:
        return f"aml_live_{self.key_id}_…"
