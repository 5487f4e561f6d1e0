"""Completing attempts: each outcome once, and what it opens, closes or skips."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest_django import Settings

from evaluations.engine.errors import Code, failure
from evaluations.models import Attempt, Lane, Result, Run, Unit
from evaluations.records import claims
from tests.evaluations.ledger.rows import Hand, gone, kinds, later, ledger_run, refused, statuses

pytestmark = pytest.mark.django_db


def test_a_search_opens_its_answer_and_an_answer_its_judge() -> None:
    hand = Hand(ledger_run("+?"))
    assert kinds(hand.step()) == ["add"]
    assert kinds(hand.step()) == ["search"]
    assert kinds(hand.step(needs_judge=True)) == ["answer"]
    assert kinds(hand.step()) == ["judge"]
    assert set(statuses(hand.run)) == {"done"}


def test_a_judge_that_no_verdict_is_needed_of_is_skipped_by_rule() -> None:
    hand = Hand(ledger_run("+?"))
    hand.through()
    judge = Unit.objects.get(run=hand.run, kind="judge")
    assert (judge.status, judge.code, judge.fault) == ("skipped", "BY_RULE", "")


def test_asks_between_adds_hold_the_next_add_back() -> None:
    hand = Hand(ledger_run("+??+?", scorer="exact"))
    assert kinds(hand.step()) == ["add"]
    searches = hand.take(models=0)
    assert kinds(searches) == ["search", "search"]
    hand.end(searches[:1])
    assert hand.take(models=0) == []
    hand.end(searches[1:])
    assert kinds(hand.take(models=0)) == ["add"]


def test_answers_hold_no_lane_up() -> None:
    hand = Hand(ledger_run("+?+?"))
    hand.step()
    hand.end(hand.take(models=0))
    assert sorted(kinds(hand.take())) == ["add", "answer"]


def test_a_retryable_failure_waits_and_keeps_the_unit() -> None:
    hand = Hand(ledger_run("+?"))
    ((unit, attempt),) = hand.step(failure=gone())
    unit.refresh_from_db()
    attempt.refresh_from_db()
    assert (unit.status, attempt.code, attempt.ok) == ("ready", "SERVER_ERROR", False)
    assert unit.next_attempt_at == attempt.wait_until
    assert unit.next_attempt_at is not None
    assert attempt.finished_at is not None
    assert timedelta(seconds=0.4) < unit.next_attempt_at - attempt.finished_at <= timedelta(seconds=60)


def test_a_final_add_closes_its_lane_and_skips_what_follows() -> None:
    run = ledger_run("+?++??", "+?")
    hand = Hand(run)
    hand.step()
    hand.step()
    lane = Lane.objects.get(run=run, position=0)
    doomed = [pair for pair in hand.take(models=0) if pair[0].lane_id == lane.pk]
    hand.end(doomed, failure=refused())
    lane.refresh_from_db()
    assert (lane.closed_code, lane.step, lane.remaining) == ("PAYLOAD_TOO_LARGE", lane.steps, 0)
    after = Unit.objects.filter(lane=lane, step__gt=doomed[0][0].step)
    assert set(after.values_list("status", "code", "fault")) == {
        ("skipped", "PAYLOAD_TOO_LARGE", "participant")
    }


def test_a_closed_lane_leaves_the_others_and_earlier_answers_alone() -> None:
    run = ledger_run("+?+?", "+?+?")
    hand = Hand(run)
    hand.step()
    hand.end(hand.take(models=0))
    first = [pair for pair in hand.take(models=0) if pair[0].lane.position == 0]
    hand.end(first, failure=refused())
    assert set(statuses(run, lane__position=0, kind="answer")) == {"ready", "skipped"}
    assert "skipped" not in statuses(run, lane__position=1)


def test_a_final_search_skips_answer_and_judge_with_the_participants_fault() -> None:
    hand = Hand(ledger_run("+?+"))
    hand.step()
    hand.step(failure=refused(Code.SCHEMA_MISMATCH, status=200))
    skipped = Unit.objects.filter(run=hand.run, kind__in=["answer", "judge"])
    assert set(skipped.values_list("status", "code", "fault")) == {
        ("skipped", "SCHEMA_MISMATCH", "participant")
    }
    assert kinds(hand.take()) == ["add"]


@pytest.mark.parametrize("code", [Code.MODEL_OUTAGE, Code.MODEL_CREDIT, Code.PLATFORM_ERROR])
def test_failures_of_provider_and_platform_never_end_a_unit(code: Code) -> None:
    hand = Hand(ledger_run("+?"))
    hand.step()
    hand.step()
    for _ in range(40):
        later(minutes=6)
        hand.step(failure=failure(code, sentence="Away.", retryable=True))
    assert Attempt.objects.filter(run=hand.run, kind="answer").count() == 40
    later(minutes=6)
    assert hand.through() == ["answer"]


def test_a_call_that_the_model_refuses_three_times_waits_for_people() -> None:
    hand = Hand(ledger_run("+?"))
    hand.step()
    hand.step()
    for _ in range(3):
        later(minutes=6)
        hand.step(failure=failure(Code.MODEL_REFUSED, sentence="No.", retryable=False))
    answer = Unit.objects.get(run=hand.run, kind="answer")
    assert (answer.status, answer.fault) == ("failed", "provider")
    assert Run.objects.get(pk=hand.run.pk).model_flow["breaker"] is None


def test_a_platform_error_tells_nothing_of_the_service() -> None:
    hand = Hand(ledger_run(*["+?"] * 8))
    hand.step(failure=failure(Code.PLATFORM_ERROR, sentence="Ours.", retryable=True))
    state = Run.objects.get(pk=hand.run.pk).flow
    assert (state["streak"], state["breaker"], state["failing_since"]) == (0, None, None)


def test_the_same_outcome_delivered_twice_is_recorded_once() -> None:
    hand = Hand(ledger_run("+?+?"))
    hand.step()
    searches = hand.take()
    assert hand.end(searches).recorded == 1
    assert hand.end(searches).recorded == 0
    assert Result.objects.filter(run=hand.run, kind="search").count() == 1
    assert Run.objects.get(pk=hand.run.pk).successes == 2


def test_a_driver_that_wakes_up_after_its_claims_end_changes_nothing(settings: Settings) -> None:
    run = ledger_run("+?+")
    late, other = Hand(run, "d-late"), Hand(run, "d-other")
    taken = late.take()
    later(seconds=settings.CLAIM_SECONDS + 1)
    claims.expire()
    current = other.take()
    before = list(Unit.objects.filter(run=run).values())
    assert late.end(taken, failure=refused()).recorded == 0
    late.put_back(taken)
    assert list(Unit.objects.filter(run=run).values()) == before
    assert other.end(current).recorded == 1


def test_a_late_result_does_not_count_even_for_a_driver_that_claimed_anew(settings: Settings) -> None:
    run = ledger_run("+?")
    hand = Hand(run)
    old = hand.take()
    later(seconds=settings.CLAIM_SECONDS + 1)
    claims.expire()
    new = hand.take()
    assert hand.end(old).recorded == 0
    assert hand.end(new).recorded == 1
    states = Attempt.objects.filter(run=run, kind="add").order_by("number").values_list("number", "state")
    assert list(states) == [(1, "unknown"), (2, "done")]


def test_a_conflict_after_an_unknown_outcome_is_retried_for_a_while(settings: Settings) -> None:
    run = ledger_run("+?")
    hand = Hand(run)
    hand.take()
    later(seconds=settings.CLAIM_SECONDS + 1)
    claims.expire()
    conflict = failure(Code.CONFLICT, sentence="409", retryable=False, status=409)
    hand.step(failure=conflict)
    assert statuses(run, kind="add") == ["ready"]
    later(minutes=11)
    hand.step(failure=conflict)
    assert statuses(run, kind="add") == ["failed"]


def test_a_conflict_on_the_first_attempt_is_final() -> None:
    hand = Hand(ledger_run("+?"))
    hand.step(failure=failure(Code.CONFLICT, sentence="409", retryable=False, status=409))
    assert statuses(hand.run, kind="add") == ["failed"]


def test_a_whole_run_keeps_its_order_and_ends_with_nothing_open() -> None:
    run = ledger_run("+?+??", "++?", "?+?")
    hand = Hand(run)
    hand.through()
    assert set(statuses(run)) <= {"done", "skipped"}
    for lane in Lane.objects.filter(run=run):
        assert (lane.step, lane.remaining) == (lane.steps, 0)
        calls = Attempt.objects.filter(unit__lane=lane, kind__in=["add", "search"]).order_by("pk")
        assert [a.unit.step for a in calls.select_related("unit")] == sorted(a.unit.step for a in calls)
