"""Participants and their people."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from aml.lib.ids import public_id
from aml.web import audit, clock
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from registration.models import Cycle, Member, Membership, Participant, Registration
from registration.services import guards, rules

NAME_LENGTH = 120
ORGANISATION_LENGTH = 200


def create_participant(
    *, actor: User, name: str, kind: str = Participant.Kind.TEAM, organisation: str = ""
) -> Participant:
    """A new participant with the actor as its owner."""
    name, organisation = rules.tidy(name), rules.tidy(organisation)
    _check(name=name, kind=kind, organisation=organisation)
    taken = FieldRefusal("name", _("A participant of this name exists; ask them for the join code."))
    if Participant.objects.filter(name__iexact=name).exists():
        raise taken
    with transaction.atomic():
        with guards.refusing(taken):
            participant = Participant.objects.create(name=name, kind=kind, organisation=organisation)
        Member.objects.create(participant=participant, user=actor, role=Member.Role.OWNER)
        audit.record("participant.created", subject=_subject(participant), actor=actor, actor_label="owner")
    return participant


def join_participant(*, actor: User, code: str) -> Participant:
    """Join by the code an owner gave; joining twice is no error.

    Refuses if the actor takes part in one of the participant's running cycles with somebody else. The lock
    on the participant keeps a registration and a join from passing each other unseen.
    """
    with transaction.atomic():
        wanted = rules.tidy(code).lower()
        participant = Participant.objects.select_for_update().filter(join_code=wanted).first()
        if participant is None:
            raise FieldRefusal(
                "code", _("There is no participant with this code; ask an owner for the current one.")
            )
        if participant.members.filter(user=actor).exists():
            return participant
        if participant.kind == Participant.Kind.PERSON:
            raise FieldRefusal("code", _("This participant is a single person; nobody can join."))
        Member.objects.create(participant=participant, user=actor, role=Member.Role.ENGINEER)
        for registration in _running_registrations(participant):
            take_part(registration, users=[actor])
        audit.record("member.joined", subject=_subject(participant), actor=actor, actor_label="engineer")
    return participant


def renew_join_code(*, actor: User, participant: Participant) -> Participant:
    """The old code stops working at once."""
    with transaction.atomic():
        participant = Participant.objects.select_for_update().get(pk=participant.pk)
        guards.owner(actor, participant)
        participant.join_code = public_id()
        participant.save(update_fields=["join_code"])
        audit.record(
            "participant.code_renewed", subject=_subject(participant), actor=actor, actor_label="owner"
        )
    return participant


def set_role(*, actor: User, member: Member, role: str) -> Member:
    """Give a member another role; the last owner keeps theirs."""
    if role not in Member.Role.values:
        raise FieldRefusal("role", _("There is no such role."))
    with transaction.atomic():
        # Two owners who demote each other at once meet at this lock; the second is no owner any more.
        participant = Participant.objects.select_for_update().get(pk=member.participant_id)
        guards.owner(actor, participant)
        member = participant.members.select_related("user", "participant").get(pk=member.pk)
        others = member.participant.members.exclude(pk=member.pk)
        if role != Member.Role.OWNER and not others.filter(role=Member.Role.OWNER).exists():
            raise Refusal("last_owner", _("A participant keeps at least one owner."))
        was, member.role = member.role, role
        member.save(update_fields=["role"])
        audit.record(
            "member.role_changed", subject=_subject(member.participant), actor=actor, actor_label="owner",
            member=member.user.public_id, was=was, now=role,
        )  # fmt: skip
    return member


def take_part(registration: Registration, *, users: list[User]) -> None:
    """Memberships of these people in the registration's cycle; refuses, by name, who takes part elsewhere."""
    places = Membership.objects.filter(cycle=registration.cycle, user__in=users).select_related("user")
    if names := sorted(str(place.user) for place in places.exclude(registration=registration)):
        raise _taken(registration.cycle, who=", ".join(names))
    here = {place.user_id for place in places}
    users = [user for user in users if user.pk not in here]
    with guards.refusing(_taken(registration.cycle, who=", ".join(sorted(map(str, users))))):
        Membership.objects.bulk_create(
            [Membership(registration=registration, user=user, cycle=registration.cycle) for user in users]
        )


def _taken(cycle: Cycle, *, who: str) -> Refusal:
    return Refusal(
        "already_in_cycle",
        _("%(who)s: takes part in %(cycle)s with another participant already.")
        % {"who": who, "cycle": cycle.title},
        hint=_("A person takes part in a cycle once."),
    )


def _running_registrations(participant: Participant) -> list[Registration]:
    running = participant.registrations.filter(cycle__evaluation_stops_at__gt=clock.now())
    return list(running.filter(status__in=Registration.LIVE).select_related("cycle"))


def _check(*, name: str, kind: str, organisation: str) -> None:
    problems: rules.Problems = {}
    if problem := rules.short_text_problem(name, length=NAME_LENGTH):
        problems["name"] = [problem]
    if kind not in Participant.Kind.values:
        problems["kind"] = [_("Expected a person or a team.")]
    if organisation and (problem := rules.short_text_problem(organisation, length=ORGANISATION_LENGTH)):
        problems["organisation"] = [problem]
    rules.refuse(problems)


def _subject(participant: Participant) -> str:
    return f"participant:{participant.public_id}"
