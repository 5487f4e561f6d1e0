"""Several people at the same moment, on PostgreSQL: the constraints decide, and each gets a sentence."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from aml.web.errors import Refusal
from registration import services
from registration.models import EvaluationKey, Member, Membership, Registration, Version
from tests.factories import (
    MEMORY_KEY,
    make_cycle,
    make_entry,
    make_organiser,
    make_participant,
    make_registration,
    make_user,
    version_values,
)

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _on_postgresql(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL of a PostgreSQL server")


def at_once(*acts: Callable[[], object]) -> list[str]:
    """Run the acts in threads that start together; "done" or the refusal's code for each, sorted."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> str:
        try:
            start.wait()
            act()
        except Refusal as refusal:
            return refusal.code
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(len(acts)) as pool:
        return sorted(pool.map(run, acts))


def test_joining_two_participants_of_a_cycle_at_once_ends_in_one() -> None:
    cycle, user = make_cycle(), make_user()
    codes = [make_registration(cycle=cycle).participant.join_code for _number in range(2)]
    outcome = at_once(*(lambda code=code: services.join_participant(actor=user, code=code) for code in codes))
    assert outcome == ["already_in_cycle", "done"]
    assert Membership.objects.filter(user=user).count() == Member.objects.filter(user=user).count() == 1


def test_registering_one_participant_twice_at_once_makes_one_registration() -> None:
    owner, cycle = make_user(), make_cycle()
    participant = make_participant(owner=owner)

    def register(division: str) -> Registration:
        return services.register(
            actor=owner, participant=participant, cycle=cycle, division=division, statement="Ours."
        )

    outcome = at_once(lambda: register("commercial"), lambda: register("open-source"))
    assert outcome == ["already_registered", "done"]
    assert Registration.objects.count() == Membership.objects.count() == 1


def test_registering_two_participants_of_one_person_at_once_makes_one_registration() -> None:
    owner, cycle = make_user(), make_cycle()
    teams = [make_participant(owner=owner) for _number in range(2)]
    outcome = at_once(
        *(
            lambda team=team: services.register(
                actor=owner, participant=team, cycle=cycle, division="commercial", statement="Ours."
            )
            for team in teams
        )
    )
    assert outcome == ["already_in_cycle", "done"]
    assert Registration.objects.count() == Membership.objects.count() == 1


def test_who_joins_while_the_team_registers_takes_part() -> None:
    owner, user, cycle = make_user(), make_user(), make_cycle()
    team = make_participant(owner=owner)
    at_once(
        lambda: services.register(
            actor=owner, participant=team, cycle=cycle, division="commercial", statement="Ours."
        ),
        lambda: services.join_participant(actor=user, code=team.join_code),
    )
    assert set(Membership.objects.values_list("user", flat=True)) == {owner.pk, user.pk}


def test_three_keys_made_at_once_are_two() -> None:
    registration = make_registration()
    owner = registration.participant.members.get().user
    acts = [lambda: services.create_evaluation_key(actor=owner, registration=registration)] * 3
    assert at_once(*acts) == ["done", "done", "keys_used"]
    assert EvaluationKey.objects.live().count() == 2


def test_two_organisers_decide_once() -> None:
    registration = make_registration(status="submitted")
    organisers = [make_organiser() for _number in range(2)]
    outcome = at_once(
        *(
            lambda organiser=organiser, approve=approve: services.decide_registration(
                actor=organiser, registration=registration, approve=approve, reason="Because."
            )
            for organiser, approve in zip(organisers, (True, False), strict=True)
        )
    )
    assert outcome == ["already_decided", "done"]


def test_versions_made_at_once_are_numbered_one_after_the_other() -> None:
    entry = make_entry()
    owner = entry.registration.participant.members.get().user
    acts = [
        lambda label=label: services.new_version(
            actor=owner, entry=entry, values=version_values() | {"label": label}, memory_key=MEMORY_KEY
        )
        for label in ("1.0", "1.1", "1.1")
    ]
    assert at_once(*acts) == ["done", "done", "invalid_field"]
    assert sorted(Version.objects.values_list("number", flat=True)) == [1, 2]


def test_two_owners_who_demote_each_other_leave_one() -> None:
    first = make_participant().members.get()
    second = Member.objects.create(participant=first.participant, user=make_user(), role="owner")
    outcome = at_once(
        lambda: services.set_role(actor=first.user, member=second, role="viewer"),
        lambda: services.set_role(actor=second.user, member=first, role="viewer"),
    )
    assert outcome == ["done", "viewer"]
    assert Member.objects.filter(role="owner").count() == 1
