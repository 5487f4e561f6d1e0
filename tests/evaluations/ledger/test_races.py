"""Two at the same moment, on PostgreSQL: the run's lock decides, and nothing happens twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest
from django.db import connection, transaction

from aml.web import clock
from evaluations.models import Attempt, Run, RunScore, Unit
from evaluations.records import claims, planning, quota
from evaluations.records.transitions import PLATFORM, Why, add_event, lock, transition
from evaluations.runner import finalise, turns
from evaluations.runner.reconcile import reconcile
from evaluations.runner.turns import Ask
from evaluations.states import UNIT_FINAL
from tests.evaluations.ledger.rows import Claimed, Hand, accepted_run, later, ledger_run, started

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has one writer at a time"),
]
T = TypeVar("T")
WHY = Why(actor=PLATFORM, sentence="Because.")


def together(*acts: Callable[[], T]) -> list[T]:
    """What each act returned; they begin at the same moment, each on a connection of its own."""
    gate = Barrier(len(acts))

    def one(act: Callable[[], T]) -> T:
        try:
            gate.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(one, acts))


def test_planned_by_two_at_once_a_run_has_its_units_once() -> None:
    run = accepted_run("+?+?", "+?")
    assert sorted(together(*[lambda: planning.plan(run.pk)] * 4)) == [False, False, False, True]
    assert Unit.objects.filter(run=run, kind="add").count() == 3


def test_drivers_that_claim_at_once_never_share_a_unit() -> None:
    run = ledger_run(*["+?"] * 50, add=20)
    hands = [Hand(run, f"d-{number}") for number in range(4)]
    taken = together(*[hand.take for hand in hands])
    units = [unit.pk for pairs in taken for unit, _ in pairs]
    assert len(units) == len(set(units)) == Attempt.objects.filter(run=run).count()
    assert 20 <= len(units) <= 40


def test_event_numbers_have_no_gaps_under_threads() -> None:
    run = ledger_run("+?")

    def note() -> int:
        with transaction.atomic():
            return add_event(lock(run.pk), kind="note", why=WHY).number

    assert sorted(together(*[note] * 12)) == list(range(1, 13))
    assert Run.objects.get(pk=run.pk).event_count == 12


def test_one_of_two_moves_at_once_wins_and_the_other_is_ignored() -> None:
    run = started("+?").run
    moves = [lambda to=to: transition(run.pk, to, why=WHY) for to in ("cancelled", "succeeded")]
    assert sorted(together(*moves)) == [False, True]
    assert run.quota_entries.exclude(act="reserve").count() == 1
    assert list(run.events.order_by("number").values_list("kind", flat=True)) == [
        "status",
        "status",
        "ignored",
    ]


def test_a_run_finished_by_two_at_once_is_finished_once() -> None:
    hand = started("+?", "+?")
    hand.through()
    finish = [lambda: finalise.finish(hand.run.pk)] * 3
    assert sorted(together(*finish)) == [False, False, True]
    assert RunScore.objects.filter(run=hand.run).count() == 1
    assert quota.usage(hand.run.registration, track="textual").used == 1
    assert hand.run.events.filter(status_to="succeeded").count() == 1


def test_the_last_two_results_from_two_drivers_at_once_end_the_run_once() -> None:
    hand = started("+?", "+?", scorer="exact")
    other = Hand(hand.run, "d-two")
    hand.step()
    hand.step()
    mine, theirs = hand.take(models=1), other.take(models=1)

    def end(who: Hand, pairs: list[Claimed]) -> bool:
        who.end(pairs)
        return finalise.finish(hand.run.pk)

    ended = together(lambda: end(hand, mine), lambda: end(other, theirs))
    assert sum(ended) <= 1
    reconcile()
    assert Run.objects.get(pk=hand.run.pk).status == "succeeded"
    assert hand.run.events.filter(status_to="succeeded").count() == 1


def test_a_result_and_the_end_of_its_claim_at_once_count_once() -> None:
    hand = started("+?")
    pairs = hand.take()
    later(seconds=3600)
    recorded, returned = together(lambda: hand.end(pairs).recorded, claims.expire)
    assert recorded + returned == 1
    states = Attempt.objects.filter(run=hand.run, kind="add", state__in=["done", "unknown"])
    assert states.count() == 1


def test_reconcile_by_many_at_once_does_each_thing_once() -> None:
    run = accepted_run("+?")
    later(hours=37)
    did = together(*[reconcile] * 4)
    assert sum(each["planned"] for each in did) == 1
    assert run.events.filter(kind="start-alarm").count() == 1


def test_turns_of_two_drivers_at_once_keep_each_lane_in_order() -> None:
    run = ledger_run(*["+?++?"] * 4, scorer="exact")

    def drive(token: str) -> None:
        hand = Hand(run, token)
        while Unit.objects.filter(run=run).exclude(status__in=UNIT_FINAL).exists():
            turn = turns.turn(run.pk, Ask(token=token, service=2, models=2))
            hand.end([(work.unit, work.attempt) for work in turn.works])

    together(*[lambda token=token: drive(token) for token in ("d-one", "d-two", "d-three")])
    assert not Unit.objects.filter(run=run).exclude(status="done").exists()
    assert Attempt.objects.filter(run=run).count() == Unit.objects.filter(run=run).count()
    for sample in range(4):
        calls = Attempt.objects.filter(unit__lane__position=sample, kind__in=["add", "search"]).order_by("pk")
        steps = list(calls.values_list("unit__step", flat=True))
        assert steps == sorted(steps)


def test_the_clock_is_the_databases() -> None:
    before = clock.now()
    later(hours=5)
    assert (clock.now() - before).total_seconds() == pytest.approx(5 * 3600, abs=60)
