"""What every service asks first: who acts, whether the cycle is open, whether somebody was faster.

Locks are taken from the outside in: participant, registration, entry, version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from aml.web import audit, clock, formats
from aml.web.errors import Refusal
from aml.web.models import User
from registration.models import Cycle, Member, Participant, Registration


def acting_member(actor: User, participant: Participant) -> Member:
    """The actor's place in the participant; refuses outsiders and viewers."""
    member = Member.objects.filter(participant=participant, user=actor).first()
    if member is None:
        raise Refusal("not_a_member", _("You are not a member of this participant."), status=403)
    if not member.may_act:
        raise Refusal(
            "viewer",
            _("You may look, but not change anything: you are a viewer of this participant."),
            hint=_("Ask an owner to make you an engineer."),
            status=403,
        )
    return member


def owner(actor: User, participant: Participant) -> Member:
    member = acting_member(actor, participant)
    if member.role != Member.Role.OWNER:
        raise Refusal("not_an_owner", _("Only an owner of this participant may do this."), status=403)
    return member


def is_organiser(actor: User) -> bool:
    return actor.is_active and actor.is_staff and actor.has_perm("registration.change_registration")


def acting_member_or_organiser(actor: User, participant: Participant) -> str:
    """The role to write into the audit log."""
    if is_organiser(actor):
        return audit.ORGANISER
    acting_member(actor, participant)
    return audit.PARTICIPANT


def organiser(actor: User) -> None:
    if not is_organiser(actor):
        raise Refusal("not_an_organiser", _("Only an organiser may do this."), status=403)


def locked_registration(registration: Registration) -> Registration:
    """The row as it is now, locked until the end of the transaction."""
    locked = Registration.objects.select_for_update(of=("self",)).select_related("participant", "cycle")
    return locked.get(pk=registration.pk)


def still_entering(registration: Registration) -> None:
    """Entries and versions come in from the application until the evaluation stops."""
    if registration.status == Registration.Status.REJECTED:
        raise Refusal(
            "not_approved",
            _("This registration was not approved, so nothing can be entered."),
            hint=_("Read the reason on the registration's page and apply again."),
        )
    if registration.status == Registration.Status.WITHDRAWN:
        raise Refusal("not_approved", _("This registration was withdrawn."))
    stop = registration.cycle.evaluation_stops_at
    if clock.now() >= stop:
        raise Refusal(
            "cycle_closed",
            _("The evaluation of this cycle stopped on %(when)s; nothing can be changed any more.")
            % {"when": formats.utc(stop)},
        )


def registration_open(cycle: Cycle) -> None:
    now = clock.now()
    if now < cycle.opens_at:
        raise Refusal(
            "cycle_closed",
            _("Registration opens on %(when)s.") % {"when": formats.utc(cycle.opens_at)},
            next_allowed_at=cycle.opens_at.isoformat(),
        )
    if now >= cycle.registration_closes_at:
        raise Refusal(
            "cycle_closed",
            _("Registration closed on %(when)s.") % {"when": formats.utc(cycle.registration_closes_at)},
        )


@contextmanager
def refusing(refusal: Refusal) -> Iterator[None]:
    """Inside, a unique constraint of the database means that somebody was first: refuse."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise refusal from error


def path_of(name: str, *args: str) -> str:
    """The page's address without a language, for mails."""
    with translation.override(settings.LANGUAGE_CODE):
        return reverse(f"registration:{name}", args=args)
