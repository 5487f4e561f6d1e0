"""The end of a run: whose zeros, which outcome, and what waits instead of finishing."""

from __future__ import annotations

import pytest

from evaluations.engine.errors import Code, failure
from evaluations.models import Run, RunScore
from evaluations.runner import finalise
from evaluations.runner.reconcile import reconcile
from tests.evaluations.ledger.rows import Hand, kinds, later, ledger_run, refused, started, statuses

pytestmark = pytest.mark.django_db


def through_with_failures(*, asks: int, failing: int) -> Run:
    """A run of ``asks`` lanes in which ``failing`` Searches fail for good."""
    hand = started(*["+?"] * asks, scorer="exact", add=64, search=256)
    hand.end(hand.take(service=500))
    searches = hand.take(service=500)
    hand.end(searches[:failing], failure=refused(Code.NOT_JSON, status=200))
    hand.end(searches[failing:])
    while pairs := hand.take(service=500, models=500):
        hand.end(pairs)
    assert finalise.finish(hand.run.pk)
    return Run.objects.get(pk=hand.run.pk)


def test_a_run_without_failures_succeeds_with_its_score() -> None:
    run = through_with_failures(asks=4, failing=0)
    assert (run.status, run.code, run.fault) == ("succeeded", "", "")
    assert (run.score.overall, run.score.scored, run.score.unscored, run.score.zero_by_failure) == (
        1.0,
        4,
        0,
        0,
    )


def test_a_share_of_zeros_up_to_the_threshold_is_partial() -> None:
    run = through_with_failures(asks=10, failing=2)
    assert (run.status, run.code, run.fault) == ("partial", "NOT_JSON", "participant")
    assert run.score.zero_by_failure == 2


def test_more_zeros_fail_the_run_by_the_participant() -> None:
    run = through_with_failures(asks=10, failing=3)
    assert (run.status, run.code, run.fault) == ("failed", "NOT_JSON", "participant")
    assert run.service_released_at is not None


def test_a_run_with_an_open_unit_does_not_finish() -> None:
    run = ledger_run("+?")
    Hand(run).step()
    assert finalise.finish(run.pk) is False
    assert not RunScore.objects.filter(run=run).exists()


def test_finishing_twice_writes_one_score() -> None:
    run = through_with_failures(asks=2, failing=0)
    assert finalise.finish(run.pk) is False
    assert run.events.filter(status_to="succeeded").count() == 1


def unsettled() -> Hand:
    """A run whose one answer the provider refused for good."""
    hand = started("+?")
    hand.step()
    hand.step()
    for _ in range(3):
        later(minutes=6)
        hand.step(failure=failure(Code.MODEL_REFUSED, sentence="No.", retryable=False))
    assert finalise.finish(hand.run.pk) is False
    return hand


def test_what_the_provider_left_open_keeps_the_run_from_finishing() -> None:
    run = Run.objects.get(pk=unsettled().run.pk)
    assert (run.status, run.pause_reason) == ("paused", "provider")
    assert not RunScore.objects.filter(run=run).exists()


def test_units_the_provider_failed_are_reopened_and_the_run_ends_scored() -> None:
    hand = unsettled()
    reconcile()
    assert "failed" in statuses(hand.run)
    later(minutes=11)
    reconcile()
    assert kinds(hand.step(needs_judge=True)) == ["answer"]
    assert kinds(hand.step()) == ["judge"]
    reconcile()
    run = Run.objects.get(pk=hand.run.pk)
    assert (run.status, run.score.scored, run.score.unscored) == ("succeeded", 1, 0)
