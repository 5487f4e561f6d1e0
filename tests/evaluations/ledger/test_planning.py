"""An accepted run becomes lanes and units, once."""

from __future__ import annotations

from collections import Counter

import pytest

from evaluations.models import Lane, Run, Unit
from evaluations.records import planning
from evaluations.records.transitions import PLATFORM, Why, transition
from tests.evaluations.ledger.rows import accepted_run, ledger_run, statuses

pytestmark = pytest.mark.django_db


def test_every_event_becomes_its_units() -> None:
    run = ledger_run("+?+??", "++?")
    counted = Counter(Unit.objects.filter(run=run).values_list("kind", flat=True))
    assert counted == {"add": 4, "search": 4, "answer": 4, "judge": 4}


def test_each_sample_is_a_lane_with_its_steps() -> None:
    run = ledger_run("+?+??", "++?")
    lanes = (
        Lane.objects.filter(run=run).order_by("position").values_list("sample", "step", "steps", "remaining")
    )
    assert list(lanes) == [("s0", 0, 4, 4), ("s1", 0, 3, 3)]


def test_only_the_first_step_of_each_lane_is_ready() -> None:
    run = ledger_run("+?+", "??+", scorer="exact")
    ready = Unit.objects.filter(run=run, status="ready").order_by("lane__position", "position")
    assert [(unit.lane.position, unit.kind) for unit in ready] == [(0, "add"), (1, "search"), (1, "search")]


def test_no_judge_is_planned_where_a_scorer_needs_none() -> None:
    run = ledger_run("+?", scorer="exact")
    assert not Unit.objects.filter(run=run, kind="judge").exists()


def test_planning_twice_writes_nothing_more() -> None:
    run = ledger_run("+?")
    before = Unit.objects.filter(run=run).count()
    assert planning.plan(run.pk) is False
    assert Unit.objects.filter(run=run).count() == before


def test_a_run_cancelled_before_is_not_planned() -> None:
    run = accepted_run("+?")
    transition(run.pk, "cancelled", why=Why(actor=PLATFORM, sentence="No more."))
    assert planning.plan(run.pk) is False
    assert statuses(run) == []


def test_planning_leaves_the_run_queued() -> None:
    run = ledger_run("+?")
    assert (run.status, run.first_add_at) == ("queued", None)
    assert Run.objects.get(pk=run.pk).planned_at is not None
