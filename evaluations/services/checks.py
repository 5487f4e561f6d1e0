"""Conformance checks on request."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock
from aml.web.background import wake
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from evaluations import tasks
from evaluations.models import Check
from evaluations.records.transitions import PARTICIPANT
from evaluations.services.decisions import YES, Decision, no
from evaluations.services.eligibility import HOUR, hourly
from evaluations.services.standing import standing
from registration.models import Registration, Version
from registration.models.entries import TrackChoice
from registration.services import guards

UNDER_WAY = (Check.Status.QUEUED, Check.Status.RUNNING)


def may_check(*, version: Version, track: str, now: datetime) -> Decision:
    registration = version.entry.registration
    stops = registration.cycle.evaluation_stops_at
    for decision in (
        standing(version=version, track=track, now=now, last_start=stops),
        _none_active(registration, track=track),
        _rate(registration, now=now),
    ):
        if not decision.allowed:
            return decision
    return YES


def request_check(*, actor: User, version: Version, track: str) -> Check:
    if track not in TrackChoice.values:
        raise FieldRefusal("track", _("There is no track “%(track)s”.") % {"track": track})
    try:
        with transaction.atomic():
            return _request(actor=actor, version=version, track=track)
    except IntegrityError as error:
        raise Refusal("active_check", _("A check has just been started in this track.")) from error


def _request(*, actor: User, version: Version, track: str) -> Check:
    registration = guards.locked_registration(version.entry.registration)
    guards.acting_member(actor, registration.participant)
    version = Version.objects.select_related("entry").get(pk=version.pk, entry__registration=registration)
    version.entry.registration = registration
    now = clock.now()
    decision = may_check(version=version, track=track, now=now)
    if not decision.allowed:
        raise decision.refusal(now=now)
    check = Check.objects.create(
        version=version, registration=registration, track=track, requested_by=actor, requested_at=now
    )
    audit.record(
        "check.requested", subject=f"check:{check.public_id}", actor=actor, actor_label=PARTICIPANT,
        version=version.public_id, track=track,
    )  # fmt: skip
    wake(tasks.drive)
    return check


def _none_active(registration: Registration, *, track: str) -> Decision:
    active = Check.objects.filter(registration=registration, track=track, status__in=UNDER_WAY).first()
    if active is None:
        return YES
    return no(
        "active_check",
        _("A check is under way in this track."),
        hint=_("Its report appears by itself within a few minutes."),
        check=active.public_id,
    )


def _rate(registration: Registration, *, now: datetime) -> Decision:
    """Checks that broke on our side don't count."""
    limit = registration.cycle.checks_per_hour
    recent = (
        Check.objects.filter(registration=registration, requested_at__gt=now - HOUR)
        .exclude(status=Check.Status.ERROR)
        .order_by("-requested_at")
        .values_list("requested_at", flat=True)
    )
    what = _("At most %(limit)s checks an hour.") % {"limit": limit}
    return hourly(list(recent[: max(1, limit)]), limit=limit, code="check_limit", what=what)
