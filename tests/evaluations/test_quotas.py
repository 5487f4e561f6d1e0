"""The quota as it is shown, and what happens if."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from aml.web.errors import Refusal
from evaluations.records import quota
from evaluations.services import Facts, grant, quota_view, start_run, what_if
from registration.models import Member
from registration.types import DEFAULT_POLICY
from tests.factories import make_organiser, make_version
from tests.run_factories import full_order, ready_version

pytestmark = pytest.mark.django_db


def test_used_and_left_follow_the_ledger() -> None:
    version = ready_version()
    registration = version.entry.registration
    owner = registration.participant.members.get(role=Member.Role.OWNER).user
    start_run(actor=owner, version=version, order=full_order())
    view = quota_view(Facts(registration, now=timezone.now()))
    assert [(one.track, one.used, one.left) for one in view.tracks] == [("textual", 1, 1)]
    assert view.starts_used == 1
    assert [line.act for line in view.ledger] == ["reserve"]


def test_only_the_newest_lines_of_the_ledger_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluations.services.quotas.LEDGER_LINES", 1)
    registration, asked = make_version().entry.registration, {"track": "textual", "kind": "full"}
    for number in (1, 2):
        grant(actor=make_organiser(), registration=registration, number=number, reason="Ours.", **asked)
    view = quota_view(Facts(registration, now=timezone.now()))
    assert [line.amount for line in view.ledger] == [-2]


def test_what_if_has_every_row_of_the_policy() -> None:
    registration = make_version().entry.registration
    rows = what_if(Facts(registration, now=timezone.now()), track="textual")
    assert [row.key for row in rows] == [row.key for row in DEFAULT_POLICY]


def test_what_if_agrees_with_what_is_settled() -> None:
    version = ready_version()
    registration = version.entry.registration
    owner = registration.participant.members.get(role=Member.Role.OWNER).user
    run = start_run(actor=owner, version=version, order=full_order())
    now = timezone.now()
    told = {row.key: row for row in what_if(Facts(registration, now=now), track="textual")}["succeeded"]
    run.status = "succeeded"
    quota.settle(run, now=now)
    assert quota.usage(registration, track="textual").used == told.used
    assert quota.cooldown_until(registration, track="textual", now=now) == told.cooldown_until
    assert told.cooldown_until == now + timedelta(days=30)


def test_a_grant_is_a_line_with_who_and_why() -> None:
    registration = make_version().entry.registration
    organiser = make_organiser()
    entry = grant(
        actor=organiser, registration=registration, track="textual", kind="full", number=2, reason="Ours."
    )
    assert (entry.amount, entry.actor, entry.reason) == (-2, organiser, "Ours.")
    assert quota_view(Facts(registration, now=timezone.now())).tracks[0].left == 4


def test_a_participant_grants_nothing() -> None:
    registration = make_version().entry.registration
    owner = registration.participant.members.get(role=Member.Role.OWNER).user
    with pytest.raises(Refusal, match="organiser"):
        grant(actor=owner, registration=registration, track="textual", kind="full", number=1, reason="Me.")
