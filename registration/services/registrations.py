"""Applying for a cycle, and the organiser's decision."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock, formats, outbox
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from registration.models import Cycle, Membership, Participant, Registration, acting_people
from registration.models.participants import DivisionChoice
from registration.services import guards, rules
from registration.services.participants import take_part

STATEMENT_LENGTH = 4000


def register(
    *, actor: User, participant: Participant, cycle: Cycle, division: str, statement: str
) -> Registration:
    """Apply for a cycle in one division, for every member of the participant."""
    statement = rules.tidy(statement)
    _check(division=division, statement=statement)
    with transaction.atomic():
        participant = Participant.objects.select_for_update().get(pk=participant.pk)
        guards.acting_member(actor, participant)
        guards.registration_open(cycle)
        with guards.refusing(_already(participant)):
            registration = Registration.objects.create(
                participant=participant, cycle=cycle, division=division, statement=statement,
                submitted_at=clock.now(),
            )  # fmt: skip
        take_part(registration, users=_people(participant))
        _note_application(registration, actor=actor)
    return registration


def reapply(*, actor: User, registration: Registration, division: str, statement: str) -> Registration:
    """Apply again after a refusal; the earlier decision stays in the audit log."""
    statement = rules.tidy(statement)
    _check(division=division, statement=statement)
    with transaction.atomic():
        Participant.objects.select_for_update().get(pk=registration.participant_id)
        registration = guards.locked_registration(registration)
        guards.acting_member(actor, registration.participant)
        guards.registration_open(registration.cycle)
        if registration.status != Registration.Status.REJECTED:
            raise Refusal("not_rejected", _("Only an application that was not approved can be sent again."))
        if registration.division != division and registration.entries.exists():
            raise FieldRefusal("division", _("Systems are entered in this division, so it can't change."))
        registration.status, registration.division = Registration.Status.SUBMITTED, division
        registration.statement, registration.submitted_at = statement, clock.now()
        registration.decided_at = registration.decided_by = None
        registration.decision_reason = ""
        registration.save()
        take_part(registration, users=_people(registration.participant))
        _note_application(registration, actor=actor)
    return registration


def decide_registration(
    *, actor: User, registration: Registration, approve: bool, reason: str = ""
) -> Registration:
    """The organiser's decision, once per application; a refusal needs a reason for the participant."""
    guards.organiser(actor)
    reason = rules.tidy(reason)
    if not approve and not reason:
        raise FieldRefusal("reason", _("Say why, in a sentence that the participant will read."))
    if reason and (problem := rules.short_text_problem(reason, length=STATEMENT_LENGTH, multiline=True)):
        raise FieldRefusal("reason", problem)
    with transaction.atomic():
        registration = guards.locked_registration(registration)
        _refuse_if_decided(registration)
        decided = Registration.Status.APPROVED if approve else Registration.Status.REJECTED
        registration.status, registration.decision_reason = decided, reason
        registration.decided_at, registration.decided_by = clock.now(), actor
        registration.save(update_fields=["status", "decision_reason", "decided_at", "decided_by"])
        if not approve:
            # Its people are free to take part with somebody else; applying again takes them back.
            Membership.objects.filter(registration=registration).delete()
        audit.record(
            f"registration.{decided}", subject=subject(registration), actor=actor, actor_label=audit.ORGANISER,
            reason=reason,
        )  # fmt: skip
        _tell(registration, event=str(decided), at=registration.decided_at.isoformat())
    return registration


def subject(registration: Registration) -> str:
    return f"registration:{registration.public_id}"


def _check(*, division: str, statement: str) -> None:
    problems: rules.Problems = {}
    if division not in DivisionChoice.values:
        problems["division"] = [_("Choose exactly one division.")]
    if problem := rules.short_text_problem(statement, length=STATEMENT_LENGTH, multiline=True):
        problems["statement"] = [problem]
    rules.refuse(problems)


def _already(participant: Participant) -> Refusal:
    return Refusal(
        "already_registered",
        _("%(participant)s is registered in this cycle, in one division.")
        % {"participant": participant.name},
        hint=_("Everything you enter goes into that registration."),
    )


def _refuse_if_decided(registration: Registration) -> None:
    if registration.status == Registration.Status.SUBMITTED:
        return
    if registration.decided_at is None:
        raise Refusal("already_decided", _("This application was withdrawn."))
    raise Refusal(
        "already_decided",
        _("This application was decided on %(when)s: %(status)s.")
        % {"when": formats.utc(registration.decided_at), "status": registration.get_status_display()},
    )


def _people(participant: Participant) -> list[User]:
    return [member.user for member in participant.members.select_related("user").order_by("pk")]


def _note_application(registration: Registration, *, actor: User) -> None:
    audit.record(
        "registration.submitted", subject=subject(registration), actor=actor, actor_label=audit.PARTICIPANT,
        division=registration.division,
    )  # fmt: skip
    _tell(registration, event="received", at=registration.submitted_at.isoformat())


def _tell(registration: Registration, *, event: str, at: str) -> None:
    outbox.enqueue(
        f"registration:{registration.public_id}:{event}:{at}",
        users=acting_people(registration.pk),
        template=f"registration_{event}",
        mandatory=True,
        participant=registration.participant.name,
        cycle=registration.cycle.title,
        reason=registration.decision_reason,
        page=guards.path_of("registration", registration.public_id),
        keys=guards.path_of("keys"),
        entry=guards.path_of("entry_new"),
    )
