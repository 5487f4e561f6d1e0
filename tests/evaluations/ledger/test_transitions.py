"""The only door by which a run's status moves."""

from __future__ import annotations

from itertools import product

import pytest

from aml.web import clock
from aml.web.models import OutboxMessage
from evaluations import states
from evaluations.models import Run, RunEvent
from evaluations.records.transitions import PLATFORM, Why, add_event, publish_move, transition
from registration.models import Member
from tests.evaluations.ledger.rows import later, ledger_run
from tests.factories import make_member
from tests.run_factories import finished_run, make_run

pytestmark = pytest.mark.django_db
WHY = Why(actor=PLATFORM, sentence="Because.", code="SERVER_ERROR", fault="participant")
PAIRS = list(product(states.RunStatus.values, repeat=2))


def run_in(status: str) -> Run:
    """A run with its reservation, brought into ``status`` through the door."""
    run = ledger_run("+?")
    if status == states.RunStatus.PAUSED:
        transition(run.pk, status, why=WHY, pause_reason="endpoint")
    elif status != states.RunStatus.QUEUED:
        transition(run.pk, states.RunStatus.RUNNING, why=WHY)
        if status != states.RunStatus.RUNNING:
            transition(run.pk, status, why=WHY)
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize(("before", "to"), PAIRS)
def test_a_move_happens_if_and_only_if_the_table_has_it(before: str, to: str) -> None:
    run = run_in(before)
    allowed = to in states.MOVES[before]
    assert transition(run.pk, to, why=WHY, pause_reason="endpoint") is allowed
    assert Run.objects.get(pk=run.pk).status == (to if allowed else before)
    newest = RunEvent.objects.filter(run=run).order_by("number").last()
    assert newest is not None
    assert newest.kind == ("status" if allowed else "ignored")


def test_a_late_message_changes_neither_quota_nor_mail() -> None:
    run = run_in("cancelled")
    before = (run.quota_entries.count(), OutboxMessage.objects.count(), run.finished_at)
    assert transition(run.pk, "succeeded", why=WHY) is False
    run.refresh_from_db()
    assert (run.quota_entries.count(), OutboxMessage.objects.count(), run.finished_at) == before


def test_events_say_from_where_to_where_and_why() -> None:
    run = run_in("paused")
    transition(run.pk, "running", why=Why(actor=PLATFORM, sentence="Going on."))
    rows = run.events.order_by("number").values_list("number", "status_from", "status_to", "sentence")
    assert list(rows) == [(1, "queued", "paused", "Because."), (2, "paused", "running", "Going on.")]


def test_a_pause_keeps_its_reason_and_an_end_of_it_drops_it() -> None:
    run = run_in("paused")
    assert (run.pause_reason, run.paused_at is None) == ("endpoint", False)
    transition(run.pk, "running", why=Why(actor=PLATFORM, sentence="Going on."))
    run.refresh_from_db()
    assert (run.pause_reason, run.paused_at) == ("", None)


def test_members_but_viewers_are_told_of_an_end_by_mail() -> None:
    run = run_in("running")
    participant = run.registration.participant
    engineer = make_member(participant=participant)
    make_member(participant=participant, role=Member.Role.VIEWER)
    transition(run.pk, "succeeded", why=WHY)
    told = set(OutboxMessage.objects.filter(template="run_finished").values_list("recipient", flat=True))
    owner = participant.members.get(role=Member.Role.OWNER)
    assert told == {owner.user.email, engineer.user.email}


def test_an_operators_pause_is_no_part_of_an_outage() -> None:
    run = run_in("running")
    begun = clock.now().timestamp()
    Run.objects.filter(pk=run.pk).update(flow={"failing_since": begun})
    transition(run.pk, "paused", why=WHY, pause_reason="operator")
    later(hours=30)
    transition(run.pk, "running", why=WHY)
    run.refresh_from_db()
    assert run.flow["failing_since"] == pytest.approx(begun + 30 * 3600, abs=30)


def test_what_was_decided_at_acceptance_cannot_be_changed() -> None:
    run = make_run()
    run.spec = {**run.spec, "concurrency": {"add": 1, "search": 1}}
    with pytest.raises(ValueError, match="spec"):
        run.save()


def test_event_numbers_count_from_one_whatever_happens() -> None:
    run = run_in("running")
    add_event(Run.objects.get(pk=run.pk), kind="note", why=WHY)
    transition(run.pk, "queued", why=WHY)
    transition(run.pk, "cancelled", why=WHY)
    assert list(run.events.order_by("number").values_list("number", flat=True)) == [1, 2, 3, 4]


@pytest.mark.parametrize(("before", "to"), list(product(states.Publication.values, repeat=2)))
def test_publication_moves_by_its_table(before: str, to: str) -> None:
    run = finished_run(publication=before)
    assert publish_move(run.pk, to, why=WHY) is (to in states.PUBLICATION_MOVES[before])
