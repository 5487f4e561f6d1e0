"""The quota ledger: reserve, consume, refund, grant; numbered slots of Fulls; cooldown rows."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from evaluations import states
from evaluations.models.runs import Run
from registration.models import Registration
from registration.models.entries import TrackChoice


class QuotaEntry(models.Model):
    """One line of the ledger; ``amount`` is what it adds to the number used. Never changed, never deleted."""

    class Act(models.TextChoices):
        RESERVE = "reserve", _("reserved")
        CONSUME = "consume", _("used")
        REFUND = "refund", _("given back")
        GRANT = "grant", _("granted")

    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="quota_entries")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    kind = models.CharField(max_length=5, choices=states.RunKind.choices)
    act = models.CharField(max_length=8, choices=Act.choices)
    amount = models.SmallIntegerField()
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="quota_entries")
    reason = models.CharField(max_length=300)
    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name_plural = "quota entries"
        ordering = ("at", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["run", "act"], condition=~Q(act="grant"), name="quota_act_once_per_run"
            ),
            models.CheckConstraint(
                condition=Q(act="reserve", amount=1)
                | Q(act="consume", amount=0)
                | Q(act="refund", amount=-1)
                | Q(act="grant", amount__lt=0),
                name="quota_amount_fits_act",
            ),
            models.CheckConstraint(
                condition=Q(act="grant") | Q(run__isnull=False), name="quota_act_names_its_run"
            ),
        )

    def __str__(self) -> str:
        return f"{self.act} {self.kind}"


class QuotaSlot(models.Model):
    """A numbered place that a Full occupies; a refund frees it. ``scope`` is "cycle" or the track."""

    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="quota_slots")
    scope = models.CharField(max_length=12)
    number = models.PositiveSmallIntegerField()
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="quota_slot")
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["registration", "scope", "number"],
                condition=Q(released_at__isnull=True),
                name="quota_slot_held_once",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="quota_slot_counts_from_one"),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.number}"


class Cooldown(models.Model):
    """No Full of this registration in this track until then (product.md, rule 7)."""

    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="cooldowns")
    track = models.CharField(max_length=12, choices=TrackChoice.choices)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="cooldown")
    reason = models.CharField(max_length=300)

    class Meta:
        indexes = (models.Index(fields=["registration", "track", "ends_at"]),)
        constraints = (
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="cooldown_ends_after_start"),
        )

    def __str__(self) -> str:
        return f"{self.track} until {self.ends_at:%Y-%m-%d}"
