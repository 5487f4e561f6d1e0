"""A cycle: an edition of the challenge, with its dates and rules."""

from __future__ import annotations

import zoneinfo
from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from registration import types


def validate_zone(name: str) -> None:
    if name != "AoE" and name not in zoneinfo.available_timezones():
        raise ValidationError(
            _("%(name)s is not a time zone; expected a name such as UTC or Asia/Shanghai, or AoE."),
            params={"name": name},
        )


class CycleQuerySet(models.QuerySet["Cycle"]):
    def public(self) -> CycleQuerySet:
        return self.filter(is_public=True)

    def current_at(self, now: datetime) -> Cycle | None:
        """The public cycle that opened last; before the first opens, the next one."""
        opened = self.public().filter(opens_at__lte=now).order_by("-opens_at", "-pk").first()
        return opened or self.public().order_by("opens_at", "pk").first()


class Cycle(models.Model):
    class FullScope(models.TextChoices):
        CYCLE = "cycle", _("in the whole cycle")
        TRACK = "track", _("in each track")

    slug = models.SlugField(unique=True)
    title = models.CharField(_("title"), max_length=200)
    title_zh = models.CharField(_("title in Chinese"), max_length=200, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    summary_zh = models.TextField(_("summary in Chinese"), blank=True)
    host = models.CharField(_("host"), max_length=200, blank=True)
    contact = models.EmailField(_("contact"), blank=True)
    is_public = models.BooleanField(_("shown to everybody"), default=False)
    is_official = models.BooleanField(
        _("official"),
        default=False,
        help_text=_("An unofficial cycle may publish results of offline or uncalibrated models, marked so."),
    )

    timezone = models.CharField(
        _("zone of the dates"), max_length=64, default="UTC", validators=[validate_zone]
    )
    opens_at = models.DateTimeField(_("opens"))
    registration_closes_at = models.DateTimeField(_("registration closes"))
    full_closes_at = models.DateTimeField(_("last start of a Full"))
    evaluation_stops_at = models.DateTimeField(_("evaluation stops"))
    results_at = models.DateTimeField(_("results"))

    full_limit = models.PositiveSmallIntegerField(_("Fulls"), default=types.FULLS_PER_CYCLE)
    full_scope = models.CharField(
        _("Fulls are counted"), max_length=8, choices=FullScope.choices, default=FullScope.CYCLE
    )
    start_limit = models.PositiveSmallIntegerField(_("starts of a Full"), default=types.STARTS_PER_CYCLE)
    smokes_per_hour = models.PositiveSmallIntegerField(_("Smokes an hour"), default=types.SMOKES_PER_HOUR)
    smokes_per_track = models.PositiveSmallIntegerField(_("Smokes per track"), default=types.SMOKES_PER_TRACK)
    checks_per_hour = models.PositiveSmallIntegerField(_("checks an hour"), default=types.CHECKS_PER_HOUR)
    smoke_fresh_hours = models.PositiveIntegerField(
        _("a Smoke counts for (h)"), default=types.SMOKE_FRESH_HOURS
    )
    cooldown_hours = models.PositiveIntegerField(_("cooldown (h)"), default=types.COOLDOWN_HOURS)
    start_deadline_hours = models.PositiveIntegerField(
        _("a Full starts within (h)"), default=types.START_DEADLINE_HOURS
    )
    outage_end_hours = models.PositiveIntegerField(
        _("an outage ends a run after (h)"), default=types.OUTAGE_END_HOURS
    )
    zero_share_succeeded = models.FloatField(
        _("zeros by failure up to which a run succeeded"),
        default=types.ZERO_SHARE_SUCCEEDED,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    zero_share_partial = models.FloatField(
        _("zeros by failure up to which a run is partial"),
        default=types.ZERO_SHARE_PARTIAL,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    allow_no_auth_full = models.BooleanField(_("a Full may run without a memory key"), default=False)
    allow_plain_http = models.BooleanField(_("plain http is allowed"), default=False)
    limits = models.JSONField(
        _("limits that differ"),
        default=dict,
        blank=True,
        help_text=_("Names and values of the contract's limits."),
    )
    rules_version = models.PositiveIntegerField(_("version of the rules"), default=1)

    objects: ClassVar[models.Manager[Cycle]] = CycleQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(opens_at__lt=F("registration_closes_at"))
                & Q(registration_closes_at__lte=F("full_closes_at"))
                & Q(full_closes_at__lte=F("evaluation_stops_at"))
                & Q(evaluation_stops_at__lte=F("results_at")),
                name="cycle_dates_in_order",
                violation_error_message=_(
                    "The dates must be in order: opens, registration closes, last start, evaluation stops, results."
                ),
            ),
            models.CheckConstraint(
                condition=Q(zero_share_succeeded__gte=0)
                & Q(zero_share_succeeded__lte=F("zero_share_partial"))
                & Q(zero_share_partial__lte=1),
                name="cycle_zero_shares_in_order",
                violation_error_message=_("The two shares must satisfy 0 ≤ succeeded ≤ partial ≤ 1."),
            ),
        )

    def __str__(self) -> str:
        return self.title
