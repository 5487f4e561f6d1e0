"""When a row stands on the board, and when it goes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from aml.web import outbox
from aml.web.models import AuditEntry, OutboxMessage
from evaluations import signals
from evaluations.models import Run
from evaluations.records.transitions import PLATFORM, Why, publish_move
from leaderboard import services
from leaderboard.models import BoardRow, Snapshot
from tests.factories import make_cycle, make_entry, make_member, make_participant, make_registration
from tests.leaderboard.rows import make_contract, scored_full

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def current_runs() -> list[Run]:
    return [row.run for row in BoardRow.objects.current().select_related("run").order_by("pk")]


def move(run: Run, to: str) -> None:
    publish_move(run.pk, to, why=Why(actor=PLATFORM, sentence="Decided."))
    services.settle(run.pk)


def test_an_approved_full_becomes_a_row_with_a_snapshot() -> None:
    run = scored_full()
    assert services.settle(run.pk)
    run.refresh_from_db()
    snapshot = Snapshot.objects.get()
    assert (run.publication, current_runs(), snapshot.number) == ("published", [run], 1)
    assert [row["name"] for row in snapshot.data["rows"]] == [run.public_id]


def test_publishing_is_on_the_public_record_and_told_once() -> None:
    run = scored_full()
    services.settle(run.pk)
    services.settle(run.pk)
    assert AuditEntry.objects.filter(act="row.published", public=True).count() == 1
    assert OutboxMessage.objects.filter(template="run_published").count() == 1


def test_settling_again_changes_nothing() -> None:
    run = scored_full()
    services.settle(run.pk)
    assert not services.settle(run.pk)
    assert Snapshot.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_reviewers_approval_publishes_by_its_signal() -> None:
    run = scored_full(publication="in_review")
    publish_move(run.pk, "approved", why=Why(actor=PLATFORM, sentence="Approved."))
    assert current_runs() == [run]


def test_a_lost_signal_is_made_good_by_the_next_pass() -> None:
    run = scored_full()
    signals.reconciled.send(None)
    assert current_runs() == [run]


def test_a_run_that_can_not_be_settled_keeps_no_other_off_the_board(caplog: pytest.LogCaptureFixture) -> None:
    broken, fine = scored_full(accepted_at=NOW - timedelta(days=9)), scored_full()
    broken.pack.questions.all().delete()
    assert services.publish_pending() == 1
    assert current_runs() == [fine]
    assert f"settle failed for {broken.pk}" in caplog.text


def test_an_owner_who_is_a_viewer_elsewhere_is_told_and_a_viewer_is_not() -> None:
    run = scored_full()
    team = run.registration.participant
    make_member(participant=make_participant(), user=team.members.get().user, role="viewer")
    make_member(participant=team, role="viewer")
    services.settle(run.pk)
    told = OutboxMessage.objects.filter(template="run_published").values_list("user", flat=True)
    assert list(told) == [team.members.get(role="owner").user_id]


def test_the_newest_accepted_full_replaces_a_better_older_one() -> None:
    entry = make_entry()
    old = scored_full(entry=entry, share=0.9, accepted_at=NOW - timedelta(days=9))
    new = scored_full(entry=entry, share=0.4, accepted_at=NOW - timedelta(days=2))
    services.settle(old.pk)
    services.settle(new.pk)
    assert current_runs() == [new]


def test_an_older_full_approved_later_never_replaces_a_newer_one() -> None:
    entry = make_entry()
    old = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    new = scored_full(entry=entry, accepted_at=NOW - timedelta(days=2))
    services.settle(new.pk)
    services.settle(old.pk)
    assert current_runs() == [new]


def test_a_full_that_a_newer_one_stands_before_is_told_so() -> None:
    entry = make_entry()
    old = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    new = scored_full(entry=entry, accepted_at=NOW - timedelta(days=2))
    services.settle(new.pk)
    services.settle(old.pk)
    told = [outbox.render(message)[1] for message in OutboxMessage.objects.order_by("pk")]
    assert ["its result is on the board" in body for body in told] == [True, False]
    assert f"/systems/{entry.slug}/" in told[1]


@pytest.mark.parametrize("to", ["withdrawn", "disqualified", "withheld"])
def test_a_row_that_goes_brings_no_older_one_back(to: str) -> None:
    entry = make_entry()
    old = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    new = scored_full(entry=entry, accepted_at=NOW - timedelta(days=2))
    services.settle(old.pk)
    services.settle(new.pk)
    move(new, to)
    assert not services.unsettled().exists()
    assert current_runs() == []
    assert Snapshot.objects.order_by("number").last().data["rows"] == []  # type: ignore[union-attr]  # there are three
    assert AuditEntry.objects.filter(act="row.removed", data__publication=to).exists()


def test_an_older_one_approved_after_the_newer_was_withdrawn_stays_off_the_board() -> None:
    entry = make_entry()
    old = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    new = scored_full(entry=entry, accepted_at=NOW - timedelta(days=2))
    services.settle(new.pk)
    move(new, "withdrawn")
    services.settle(old.pk)
    assert current_runs() == []


def test_a_withheld_row_that_is_published_again_comes_back() -> None:
    run = scored_full()
    services.settle(run.pk)
    move(run, "withheld")
    move(run, "published")
    assert current_runs() == [run]


def test_a_partial_full_does_not_displace_one_that_succeeded() -> None:
    entry = make_entry()
    good = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    partial = scored_full(entry=entry, status="partial", accepted_at=NOW - timedelta(days=2))
    services.settle(good.pk)
    services.settle(partial.pk)
    assert current_runs() == [good]


def test_a_full_that_succeeded_displaces_a_partial_one() -> None:
    entry = make_entry()
    partial = scored_full(entry=entry, status="partial", accepted_at=NOW - timedelta(days=2))
    good = scored_full(entry=entry, accepted_at=NOW - timedelta(days=9))
    services.settle(partial.pk)
    services.settle(good.pk)
    assert current_runs() == [good]


def test_an_official_cycle_withholds_a_result_of_offline_models() -> None:
    entry = make_entry(registration=make_registration(cycle=make_cycle(is_official=True)))
    run = scored_full(entry=entry)
    services.settle(run.pk)
    run.refresh_from_db()
    assert (run.publication, current_runs()) == ("withheld", [])
    assert "official" in run.publication_reason


def test_an_official_cycle_shows_a_result_of_calibrated_models() -> None:
    entry = make_entry(registration=make_registration(cycle=make_cycle(is_official=True)))
    run = scored_full(entry=entry, contract=make_contract(offline=False, calibrated=True))
    services.settle(run.pk)
    assert current_runs() == [run]
    assert not Snapshot.objects.get().data["unofficial"]


def test_a_board_that_differs_from_its_rows_is_found_and_rebuilt() -> None:
    run = scored_full()
    services.settle(run.pk)
    run.version.entry.name = "Renamed"
    run.version.entry.save()
    assert [change.board.rows[0].system for change in services.stale_boards()] == ["Renamed"]
    assert [snapshot.number for snapshot in services.rebuild()] == [2]
    assert services.stale_boards() == []
