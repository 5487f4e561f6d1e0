"""Applying for a cycle and the organiser's decision."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from aml.web import outbox
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import AuditEntry, OutboxMessage
from registration import services
from registration.models import Cycle, Member, Membership, Registration
from tests.factories import (
    make_cycle,
    make_entry,
    make_member,
    make_organiser,
    make_participant,
    make_registration,
    make_user,
)

pytestmark = pytest.mark.django_db


def apply(cycle: Cycle | None = None, **fields: object) -> Registration:
    owner = make_user()
    participant = make_participant(owner=owner)
    values = {"division": "open-source", "statement": "A system.", **fields}
    return services.register(
        actor=owner,
        participant=participant,
        cycle=cycle or make_cycle(),
        **values,  # type: ignore[arg-type]
    )


def test_an_application_makes_a_membership_for_everybody_and_a_receipt() -> None:
    owner = make_user()
    participant = make_participant(owner=owner)
    viewer = make_member(participant=participant, role="viewer")
    registration = services.register(
        actor=owner, participant=participant, cycle=make_cycle(), division="commercial", statement="Ours."
    )
    assert registration.status == "submitted"
    assert set(Membership.objects.values_list("user", flat=True)) == {owner.pk, viewer.user_id}
    assert OutboxMessage.objects.get().recipient == owner.email


def test_a_participant_registers_once_in_a_cycle() -> None:
    registration = apply()
    with pytest.raises(Refusal) as caught:
        services.register(
            actor=registration.participant.members.get().user, participant=registration.participant,
            cycle=registration.cycle, division="commercial", statement="Again.",
        )  # fmt: skip
    assert caught.value.code == "already_registered"
    assert Registration.objects.count() == 1


def test_nobody_takes_part_twice_and_the_refusal_names_who() -> None:
    cycle, user = make_cycle(), make_user(name="Ada")
    make_registration(cycle=cycle, owner=user)
    second = make_participant(owner=user)
    with pytest.raises(Refusal, match="Ada"):
        services.register(
            actor=user, participant=second, cycle=cycle, division="commercial", statement="Ours."
        )
    assert Registration.objects.count() == 1


@pytest.mark.parametrize(("opens", "closes"), [(1, 20), (-20, -1)])
def test_outside_the_dates_registration_says_when(opens: int, closes: int) -> None:
    now = timezone.now()
    cycle = make_cycle(
        opens_at=now + timedelta(days=opens), registration_closes_at=now + timedelta(days=closes)
    )
    with pytest.raises(Refusal, match="UTC") as caught:
        apply(cycle)
    assert caught.value.code == "cycle_closed"


@pytest.mark.parametrize("division", ["", "both", "open-source,commercial"])
def test_exactly_one_division(division: str) -> None:
    with pytest.raises(FieldRefusal) as caught:
        apply(division=division)
    assert caught.value.field == "division"


@pytest.mark.parametrize("role", ["viewer", None])
def test_viewers_and_outsiders_can_not_apply(role: str | None) -> None:
    participant, user = make_participant(), make_user()
    if role:
        make_member(participant=participant, user=user, role=role)
    with pytest.raises(Refusal) as caught:
        services.register(
            actor=user, participant=participant, cycle=make_cycle(), division="commercial", statement="Ours."
        )
    assert caught.value.status == 403


def test_approval_is_recorded_and_mailed_once() -> None:
    registration, organiser = make_registration(status="submitted"), make_organiser()
    services.decide_registration(actor=organiser, registration=registration, approve=True)
    registration.refresh_from_db()
    assert (registration.status, registration.decided_by) == ("approved", organiser)
    assert AuditEntry.objects.get().act == "registration.approved"
    assert OutboxMessage.objects.get().template == "registration_approved"


def test_a_second_decision_is_refused_with_the_first() -> None:
    registration, organiser = make_registration(status="submitted"), make_organiser()
    services.decide_registration(actor=organiser, registration=registration, approve=True)
    with pytest.raises(Refusal, match="approved") as caught:
        services.decide_registration(actor=organiser, registration=registration, approve=False, reason="No.")
    assert caught.value.code == "already_decided"


def test_a_refusal_needs_a_reason() -> None:
    with pytest.raises(FieldRefusal) as caught:
        services.decide_registration(
            actor=make_organiser(), registration=make_registration(status="submitted"), approve=False
        )
    assert caught.value.field == "reason"


def test_only_an_organiser_decides() -> None:
    registration = make_registration(status="submitted")
    for actor in (registration.participant.members.get().user, make_user(is_staff=True)):
        with pytest.raises(Refusal) as caught:
            services.decide_registration(actor=actor, registration=registration, approve=True)
        assert caught.value.code == "not_an_organiser"


def test_after_a_refusal_one_may_apply_again() -> None:
    registration = make_registration(status="submitted")
    services.decide_registration(
        actor=make_organiser(), registration=registration, approve=False, reason="Too short."
    )
    again = services.reapply(
        actor=registration.participant.members.get().user, registration=registration,
        division="commercial", statement="A longer text.",
    )  # fmt: skip
    assert (again.status, again.division, again.decided_at) == ("submitted", "commercial", None)
    assert Membership.objects.filter(registration=registration).exists()


def test_the_division_stays_once_systems_are_entered() -> None:
    registration = make_registration(status="rejected")
    make_entry(registration=registration)
    with pytest.raises(FieldRefusal) as caught:
        services.reapply(
            actor=registration.participant.members.get().user, registration=registration,
            division="commercial", statement="Ours.",
        )  # fmt: skip
    assert caught.value.field == "division"


@pytest.mark.parametrize("approve", [True, False])
def test_mails_of_the_decision_render_and_lead_to_the_page(approve: bool) -> None:
    registration = make_registration(status="submitted")
    services.decide_registration(
        actor=make_organiser(), registration=registration, approve=approve, reason="Because <b>."
    )
    subject, body = outbox.render(OutboxMessage.objects.get())
    assert registration.cycle.title in subject
    assert f"/evaluation/registrations/{registration.public_id}/" in body
    assert "Because <b>." in body


def test_the_receipt_renders() -> None:
    registration = apply()
    subject, body = outbox.render(OutboxMessage.objects.get())
    assert registration.participant.name in subject
    assert "/evaluation/entries/new/" in body


def test_members_who_only_look_get_no_mail() -> None:
    registration = make_registration(status="submitted")
    make_member(participant=registration.participant, role=Member.Role.VIEWER)
    services.decide_registration(actor=make_organiser(), registration=registration, approve=True)
    assert OutboxMessage.objects.count() == 1
