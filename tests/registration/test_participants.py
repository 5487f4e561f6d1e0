"""Participants and their people."""

from __future__ import annotations

import pytest

from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import AuditEntry
from registration import services
from registration.models import Member, Membership, Participant, acting_people
from tests.factories import make_cycle, make_member, make_participant, make_registration, make_user

pytestmark = pytest.mark.django_db


def test_who_creates_a_participant_owns_it() -> None:
    user = make_user()
    participant = services.create_participant(actor=user, name="  Mnemosyne ", kind="team")
    assert participant.name == "Mnemosyne"
    assert participant.members.get().role == Member.Role.OWNER
    assert AuditEntry.objects.get().act == "participant.created"


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "a\u202eb", "a\nb"])
def test_a_bad_name_is_refused_and_makes_nothing(name: str) -> None:
    with pytest.raises(FieldRefusal) as caught:
        services.create_participant(actor=make_user(), name=name)
    assert caught.value.field == "name"
    assert not Participant.objects.exists()


def test_a_name_is_taken_whatever_its_case() -> None:
    make_participant(name="Mnemosyne")
    with pytest.raises(FieldRefusal, match="exists"):
        services.create_participant(actor=make_user(), name="MNEMOSYNE")


def test_joining_by_code_makes_an_engineer_who_takes_part_in_the_running_cycle() -> None:
    registration, user = make_registration(), make_user()
    code = registration.participant.join_code
    services.join_participant(actor=user, code=f" {code.upper()} ")
    assert registration.participant.members.get(user=user).role == Member.Role.ENGINEER
    assert Membership.objects.get(user=user).registration == registration


def test_joining_twice_changes_nothing() -> None:
    participant, user = make_participant(), make_user()
    for _repeat in range(2):
        services.join_participant(actor=user, code=participant.join_code)
    assert participant.members.filter(user=user).count() == 1


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(FieldRefusal, match="no participant"):
        services.join_participant(actor=make_user(), code="nothing")


def test_nobody_joins_a_single_person() -> None:
    participant = make_participant(kind="person")
    with pytest.raises(FieldRefusal, match="single person"):
        services.join_participant(actor=make_user(), code=participant.join_code)


def test_a_person_of_one_team_can_not_join_another_in_the_same_cycle() -> None:
    cycle, user = make_cycle(), make_user()
    make_registration(cycle=cycle, owner=user)
    other = make_registration(cycle=cycle).participant
    with pytest.raises(Refusal, match="another participant") as caught:
        services.join_participant(actor=user, code=other.join_code)
    assert caught.value.code == "already_in_cycle"
    assert not other.members.filter(user=user).exists()


def test_a_rejected_registration_keeps_nobody_from_joining_elsewhere() -> None:
    cycle, user = make_cycle(), make_user()
    registration = make_registration(cycle=cycle, owner=user, status="submitted")
    services.decide_registration(
        actor=make_user(is_staff=True, is_superuser=True),
        registration=registration,
        approve=False,
        reason="No.",
    )
    other = make_registration(cycle=cycle).participant
    services.join_participant(actor=user, code=other.join_code)
    assert other.members.filter(user=user).exists()


def test_a_new_code_ends_the_old_one() -> None:
    owner = make_user()
    participant = make_participant(owner=owner)
    old = participant.join_code
    services.renew_join_code(actor=owner, participant=participant)
    with pytest.raises(FieldRefusal):
        services.join_participant(actor=make_user(), code=old)


def test_only_an_owner_changes_roles() -> None:
    participant = make_participant()
    engineer = make_member(participant=participant)
    with pytest.raises(Refusal, match="owner"):
        services.set_role(actor=engineer.user, member=engineer, role="owner")


def test_the_last_owner_stays() -> None:
    participant = make_participant()
    member = participant.members.get()
    with pytest.raises(Refusal) as caught:
        services.set_role(actor=member.user, member=member, role="viewer")
    assert caught.value.code == "last_owner"


def test_mail_goes_to_owners_and_engineers_whatever_they_are_elsewhere() -> None:
    owner, engineer, viewer = make_user(), make_user(), make_user()
    registration = make_registration(owner=owner)
    make_member(participant=registration.participant, user=engineer)
    make_member(participant=registration.participant, user=viewer, role="viewer")
    make_member(participant=make_participant(owner=viewer), user=owner, role="viewer")
    assert list(acting_people(registration.pk)) == [owner, engineer]


def test_who_renews_the_code_is_asked_for_their_role_as_it_is_now() -> None:
    participant = make_participant()
    member = participant.members.get()
    make_member(participant=participant, role="owner")
    services.set_role(actor=member.user, member=member, role="engineer")
    with pytest.raises(Refusal) as caught:
        services.renew_join_code(actor=member.user, participant=participant)
    assert caught.value.code == "not_an_owner"
