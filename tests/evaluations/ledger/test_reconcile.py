"""What can be stuck gets out: deadlines, outages and every state that isn't final."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytest_django import Settings

from aml.web import clock
from aml.web.models import Heartbeat, OutboxMessage
from evaluations import states
from evaluations.engine.errors import Code, failure
from evaluations.models import Check, Run
from evaluations.records import heartbeats
from evaluations.records.transitions import PLATFORM, Why, transition
from evaluations.runner import turns
from evaluations.runner.reconcile import driver_wanted, reconcile
from evaluations.runner.turns import Ask
from registration.models import Cycle
from tests.evaluations.ledger.rows import Hand, accepted_run, gone, later, ledger_run, started, statuses
from tests.factories import make_organiser
from tests.run_factories import make_check

pytestmark = pytest.mark.django_db


def now_of(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def kinds_of(run: Run) -> list[str]:
    return list(run.events.order_by("number").values_list("kind", flat=True))


def test_an_accepted_run_is_planned() -> None:
    run = accepted_run("+?")
    assert reconcile()["planned"] == 1
    assert statuses(run, kind="add") == ["ready"]


def sent(*shapes: str) -> Hand:
    """A run whose first Add is on its way."""
    hand = Hand(ledger_run(*shapes))
    turns.turn(hand.run.pk, Ask(token=hand.token, service=1))
    return hand


def test_the_first_claimed_add_starts_the_clock_and_the_run() -> None:
    run = now_of(sent("+?").run)
    assert run.status == "running"
    assert run.first_add_at is not None


def test_an_add_that_came_back_unsent_has_not_started_the_clock() -> None:
    assert now_of(started("+?").run).first_add_at is None


def test_the_organiser_is_alarmed_after_36_hours_once() -> None:
    make_organiser()
    run = ledger_run("+?")
    later(hours=35)
    reconcile()
    assert kinds_of(run) == []
    later(hours=2)
    reconcile()
    reconcile()
    assert kinds_of(run) == ["start-alarm"]
    assert OutboxMessage.objects.filter(template="run_start_alarm").count() == 1


def test_a_start_missed_after_48_hours_is_noted_and_the_run_still_starts() -> None:
    run = ledger_run("+?")
    later(hours=49)
    reconcile()
    assert kinds_of(run) == ["start-missed"]
    assert now_of(run).status == "queued"
    assert len(Hand(run).take()) == 1


def test_a_run_that_has_started_is_never_alarmed() -> None:
    hand = sent("+?")
    later(hours=49)
    reconcile()
    assert kinds_of(hand.run) == ["status"]


def down(hand: Hand, *, times: int = 8) -> None:
    """Calls fail as they are let through, for about as long as the breaker's waits."""
    for _ in range(times):
        hand.step(failure=gone(Code.CONNECT_REFUSED, status=None))
        later(minutes=6)


def test_an_outage_pauses_after_five_minutes_and_ends_at_the_first_success() -> None:
    hand = started(*["+?"] * 6)
    hand.step(failure=gone())
    later(minutes=4)
    reconcile()
    assert now_of(hand.run).status == "running"
    later(minutes=2)
    reconcile()
    assert (now_of(hand.run).status, now_of(hand.run).pause_reason) == ("paused", "endpoint")
    hand.step()
    reconcile()
    assert now_of(hand.run).status == "running"


def test_an_outage_of_six_hours_ends_in_a_success_with_one_quota_entry() -> None:
    hand = started("+?+", "+?")
    down(hand)
    reconcile()
    later(hours=6)
    down(hand, times=1)
    hand.through()
    reconcile()
    run = now_of(hand.run)
    assert run.status == "succeeded"
    assert list(run.quota_entries.order_by("pk").values_list("act", flat=True)) == ["reserve", "consume"]


def test_after_the_cycles_time_without_a_success_the_run_ends_by_the_participant() -> None:
    hand = started("+?")
    Cycle.objects.update(outage_end_hours=2)
    down(hand, times=24)
    reconcile()  # pauses
    reconcile()
    run = now_of(hand.run)
    assert (run.status, run.fault, run.code) == ("failed", "participant", "CONNECT_REFUSED")


def test_a_day_in_which_our_workers_were_away_is_not_the_participants_outage() -> None:
    hand = started("+?")
    down(hand)
    reconcile()
    later(hours=24)
    down(hand, times=1)
    reconcile()
    assert now_of(hand.run).status == "paused"


def test_time_in_which_nobody_called_is_no_outage_of_the_service() -> None:
    hand = started("+?")
    hand.step(failure=gone())
    later(hours=25)
    reconcile()
    reconcile()
    assert now_of(hand.run).status == "paused"
    hand.step()
    reconcile()
    assert now_of(hand.run).status == "running"


def test_a_service_of_which_nothing_is_wanted_any_more_is_not_away() -> None:
    hand = started("+?", "+?")
    hand.step()
    searches = hand.take(models=0)
    hand.end(searches[:1])
    hand.end(searches[1:], failure=gone())
    later(minutes=2)
    hand.end(
        hand.take(models=0),
        failure=failure(Code.UNAUTHORIZED, sentence="401", retryable=False, status=401),
    )
    later(hours=25)
    reconcile()
    assert now_of(hand.run).status == "running"


def test_an_outage_of_the_provider_pauses_and_never_ends_a_run() -> None:
    hand = started(*["+?"] * 2)
    hand.step()
    hand.step()
    for _ in range(3):
        hand.step(failure=failure(Code.MODEL_CREDIT, sentence="No credit.", retryable=True))
        later(hours=20)
        reconcile()
    assert (now_of(hand.run).status, now_of(hand.run).pause_reason) == ("paused", "provider")
    turn = turns.turn(hand.run.pk, Ask(token=hand.token, models=10))
    hand.end([(work.unit, work.attempt) for work in turn.works])
    hand.through()
    reconcile()
    assert now_of(hand.run).status == "succeeded"


def test_a_pause_for_the_service_ends_though_the_provider_is_away_too() -> None:
    hand = started("+?+?", "+?+?")
    hand.step()
    hand.step()
    for _ in range(2):
        hand.end(hand.take(models=0), failure=gone())
        hand.end(hand.take(service=0), failure=failure(Code.MODEL_OUTAGE, sentence="Away.", retryable=True))
        later(minutes=6)
    reconcile()
    assert now_of(hand.run).pause_reason == "endpoint"
    hand.end(hand.take(models=0))
    hand.end(hand.take(service=0))
    reconcile()
    assert now_of(hand.run).status == "running"


def test_an_operators_pause_takes_no_calls_and_is_not_ended_by_the_clock() -> None:
    hand = started("+?")
    why = Why(actor=PLATFORM, sentence="By hand.")
    transition(hand.run.pk, "paused", why=why, pause_reason="operator")
    later(hours=100)
    reconcile()
    assert turns.turn(hand.run.pk, Ask(token="d-one", service=10)).active is False
    assert now_of(hand.run).status == "paused"


def test_claims_of_a_dead_driver_come_back(settings: Settings) -> None:
    hand = started("+?")
    hand.take()
    later(seconds=settings.CLAIM_SECONDS + 1)
    assert reconcile()["returned"] == 1
    assert statuses(hand.run, kind="add") == ["ready"]


def test_a_check_of_a_dead_driver_goes_back_into_the_queue() -> None:
    check = make_check(
        status="running", claim_token="d-dead", claim_expires_at=clock.now() + timedelta(minutes=3)
    )
    later(minutes=4)
    reconcile()
    assert Check.objects.get(pk=check.pk).status == "queued"


def test_a_run_whose_driver_died_before_its_last_line_is_finished() -> None:
    hand = started("+?")
    hand.through()
    assert reconcile()["finished"] == 1
    assert now_of(hand.run).status == "succeeded"


def test_one_runs_trouble_keeps_no_other_from_its_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, fine = started("+?", "+"), accepted_run("+?", "+")
    Run.objects.filter(pk=broken.run.pk).update(flow={"nonsense": True})
    assert reconcile()["planned"] == 1
    assert statuses(fine, kind="add", lane__position=0) == ["ready"]


def test_a_driver_is_wanted_only_while_there_is_work_and_none_claims(settings: Settings) -> None:
    assert driver_wanted() is False
    ledger_run("+?")
    assert driver_wanted() is True
    heartbeats.beat(name="d-smoke", flying=0, smoke_only=True)
    assert driver_wanted() is True
    heartbeats.beat(name="d-one", flying=3)
    assert driver_wanted() is False
    heartbeats.beat(name="d-one", flying=3, claiming=False)
    assert driver_wanted() is True


def test_a_driver_that_stopped_beating_no_longer_counts(settings: Settings) -> None:
    ledger_run("+?")
    heartbeats.beat(name="d-one", flying=3)
    later(seconds=settings.CLAIM_SECONDS + 1)
    assert driver_wanted() is True
    later(hours=2)
    reconcile()
    assert not Heartbeat.objects.exists()


def carry_on(hand: Hand) -> None:
    """What beat, and a driver that it starts, do in any state."""
    for _ in range(12):
        reconcile()
        turn = turns.turn(hand.run.pk, Ask(token=hand.token, service=50, models=50))
        hand.end([(work.unit, work.attempt) for work in turn.works])
        later(minutes=11)


def stuck_in(state: str) -> Hand:
    """A run left behind in a state that isn't final."""
    if state == "queued, unplanned":
        return Hand(accepted_run("+?+", "??"))
    hand = Hand(ledger_run("+?+", "??")) if state == "queued" else started("+?+", "??")
    if state == "running, claimed by the dead":
        Hand(hand.run, "d-dead").take()
    if state == "running, all final":
        hand.through()
    if state == "paused, endpoint":
        down(hand)
        reconcile()
    if state.startswith("paused, provider"):
        hand.end(hand.take(models=0))
        hand.end(hand.take(models=0))
        unsettled = state.endswith("verdicts")
        code = Code.MODEL_REFUSED if unsettled else Code.MODEL_OUTAGE
        for _ in range(3):
            hand.end(hand.take(service=0), failure=failure(code, sentence="No.", retryable=not unsettled))
            later(minutes=6)
        reconcile()
    return hand


STUCK = (
    "queued, unplanned", "queued", "running", "running, claimed by the dead", "running, all final",
    "paused, endpoint", "paused, provider", "paused, provider: waits for verdicts",
)  # fmt: skip


@pytest.mark.parametrize("state", STUCK)
def test_every_state_that_is_not_final_has_an_exit_that_beat_drives(state: str) -> None:
    hand = stuck_in(state)
    assert now_of(hand.run).status in states.ACTIVE
    carry_on(hand)
    run = now_of(hand.run)
    assert (run.status, run.score.unscored, run.score.zero_by_failure) == ("succeeded", 0, 0)
