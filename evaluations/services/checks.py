"""Conformance checks on request."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock
from aml.web.background import wake
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from evaluations import tasks
from evaluations.models import Check
from evaluations.records.transitions import PARTICIPANT
from evaluations.services.decisions import YES, Decision, first_no, no
from evaluations.services.eligibility import hourly
from evaluations.services.facts import UNDER_WAY, Facts
from evaluations.services.startable import CHECK, Question, startable
from registration.models import Version
from registration.models.entries import TrackChoice
from registration.services import guards

__all__ = ["UNDER_WAY", "may_check", "request_check"]


def may_check(*, version: Version, track: str, facts: Facts) -> Decision:
    asked = Question(version, track, CHECK, facts)
    return first_no(rule(asked) for rule in (startable, _none_active, _rate))


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
    decision = may_check(version=version, track=track, facts=Facts(registration, now=now))
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


def _none_active(asked: Question) -> Decision:
    active = asked.facts.active_checks.get(asked.track)
    if active is None:
        return YES
    return no(
        "active_check",
        _("A check is under way in this track."),
        hint=_("Its report appears by itself within a few minutes."),
        check=active.public_id,
    )


def _rate(asked: Question) -> Decision:
    limit = asked.cycle.checks_per_hour
    what = _("At most %(limit)s checks an hour.") % {"limit": limit}
    return hourly(asked.facts.recent_checks, limit=limit, code="check_limit", what=what)
