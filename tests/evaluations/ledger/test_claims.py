"""Claims: what may be taken, for how long, and how it comes back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest_django import Settings

from aml.web import clock
from evaluations.models import Attempt, Run, Unit
from evaluations.records import claims
from tests.evaluations.ledger.rows import Hand, gone, kinds, later, ledger_run, statuses

pytestmark = pytest.mark.django_db


def test_a_claim_writes_the_intent_before_any_request_leaves() -> None:
    run = ledger_run("+?")
    ((unit, attempt),) = Hand(run).take()
    stored = Attempt.objects.get(pk=attempt.pk)
    assert (stored.state, stored.number, stored.claim_token) == ("intent", 1, "d-one")
    assert Unit.objects.get(pk=unit.pk).claim_token == "d-one"


def test_a_lone_driver_takes_as_many_again_as_may_be_in_flight() -> None:
    run = ledger_run(*["+?"] * 20, add=8)
    assert len(Hand(run).take()) == 16
    assert Hand(run).take() == []


def test_another_driver_gets_nothing_beyond_the_window() -> None:
    run = ledger_run(*["+?"] * 20, add=8)
    Hand(run).take(service=5)
    assert len(Hand(run, "d-two").take()) == 3


def test_the_driver_asks_for_no_more_than_it_has_room_for() -> None:
    run = ledger_run(*["+?"] * 20, add=8)
    assert len(Hand(run).take(service=3)) == 3
    assert Hand(run).take(service=0) == []


def test_adds_and_searches_have_windows_of_their_own() -> None:
    run = ledger_run(*["+?"] * 4, *["??"] * 4, add=4, search=4, scorer="exact")
    assert sorted(kinds(Hand(run).take())) == ["add"] * 4 + ["search"] * 8


def test_the_longest_remaining_lane_goes_first() -> None:
    run = ledger_run("+", "+++++", "+++", add=4, scorer="exact")
    taken = Hand(run).take(service=2)
    assert [unit.lane.sample for unit, _ in taken] == ["s1", "s2"]


def test_a_unit_whose_time_has_not_come_is_left_alone() -> None:
    run = ledger_run("+?")
    Unit.objects.filter(run=run, status="ready").update(next_attempt_at=clock.now() + timedelta(seconds=20))
    assert Hand(run).take() == []
    later(seconds=21)
    assert len(Hand(run).take()) == 1


def test_what_was_never_sent_leaves_no_attempt_behind() -> None:
    run = ledger_run("+?", "+?")
    hand = Hand(run)
    hand.put_back(hand.take())
    assert not Attempt.objects.filter(run=run).exists()
    assert set(Unit.objects.filter(run=run, kind="add").values_list("status", "attempts_made")) == {
        ("ready", 0)
    }


def test_only_the_holder_can_put_back() -> None:
    run = ledger_run("+?")
    taken = Hand(run).take()
    Hand(run, "d-two").put_back(taken)
    assert statuses(run, kind="add") == ["claimed"]


def test_an_expired_claim_comes_back_with_its_outcome_unknown(settings: Settings) -> None:
    run = ledger_run("+?")
    ((unit, attempt),) = Hand(run).take()
    assert claims.expire() == 0
    later(seconds=settings.CLAIM_SECONDS + 1)
    assert claims.expire() == 1
    unit.refresh_from_db()
    attempt.refresh_from_db()
    assert (unit.status, unit.history["may_have_arrived"], attempt.state) == ("ready", True, "unknown")


def test_repeated_calls_are_counted_for_the_service_only() -> None:
    run = ledger_run("+?+", "+?+")
    hand = Hand(run)
    hand.step()
    hand.step()
    assert kinds(hand.take()) == ["add", "add", "answer", "answer"]
    assert claims.release(token="d-one") == 4
    assert Run.objects.get(pk=run.pk).repeated_calls == 2


def test_a_renewed_claim_does_not_expire(settings: Settings) -> None:
    run = ledger_run("+?")
    ((unit, _),) = Hand(run).take()
    later(seconds=settings.CLAIM_SECONDS - 5)
    assert claims.renew(token="d-one", units=[unit.pk]) == {unit.pk}
    later(seconds=10)
    assert claims.expire() == 0


def test_renewing_names_what_is_still_held(settings: Settings) -> None:
    run = ledger_run("+?", "+?")
    taken = Hand(run).take()
    Unit.objects.filter(pk=taken[0][0].pk).update(claim_token="d-two")
    assert claims.renew(token="d-one", units=[unit.pk for unit, _ in taken]) == {taken[1][0].pk}


def test_an_open_breaker_lets_one_call_through_and_rotates() -> None:
    run = ledger_run(*["+?"] * 8, add=8)
    hand = Hand(run)
    hand.end(hand.take(), failure=gone())
    tried: list[int] = []
    for seconds in (2, 3, 5):
        later(seconds=seconds)
        pairs = hand.take()
        assert len(pairs) == 1
        assert Hand(run, "d-two").take() == []
        tried.append(pairs[0][0].pk)
        hand.end(pairs, failure=gone())
        assert hand.take() == []
    assert len(set(tried)) == 3


def test_a_success_of_a_probe_closes_the_breaker() -> None:
    run = ledger_run(*["+?"] * 8, add=8)
    hand = Hand(run)
    hand.end(hand.take(), failure=gone())
    later(seconds=2)
    hand.end(hand.take())
    later(minutes=2)
    assert len(hand.take()) > 1
