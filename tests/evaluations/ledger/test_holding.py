"""What a driver may still send: only what is certainly its own."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from evaluations.models import Attempt, Unit
from evaluations.runner.holding import Held
from evaluations.runner.work import Work


@pytest.fixture(autouse=True)
def _claims_of_30_seconds(settings: Settings) -> None:
    settings.CLAIM_SECONDS = 30


def work(unit: int, attempt: int) -> Work:
    return Work(Unit(pk=unit), Attempt(pk=attempt), sample="s", event=0)


def test_a_claim_is_certain_until_its_end() -> None:
    held = Held()
    held.take(work(1, 10), since=100.0)
    assert held.certain(work(1, 10), now=129.0)
    assert not held.certain(work(1, 10), now=130.0)


def test_renewing_moves_the_end_counted_from_before_the_question() -> None:
    held = Held()
    held.take(work(1, 10), since=100.0)
    held.renewed(frozenset({1}), asked=[1], since=120.0)
    assert held.certain(work(1, 10), now=149.0)
    assert not held.certain(work(1, 10), now=151.0)


def test_a_claim_that_could_not_be_renewed_is_lost_at_once() -> None:
    held = Held()
    held.take(work(1, 10), since=100.0)
    held.renewed(frozenset(), asked=[1], since=101.0)
    assert not held.certain(work(1, 10), now=102.0)
    assert held.units == []


def test_a_claim_taken_while_renewing_is_kept() -> None:
    held = Held()
    held.take(work(2, 20), since=100.0)
    held.renewed(frozenset({1}), asked=[1], since=99.0)
    assert held.certain(work(2, 20), now=101.0)


def test_a_unit_that_came_again_is_certain_in_its_new_attempt_only() -> None:
    held = Held()
    held.take(work(1, 10), since=100.0)
    held.take(work(1, 11), since=140.0)
    assert not held.certain(work(1, 10), now=141.0)
    held.drop([work(1, 10)])
    assert held.certain(work(1, 11), now=141.0)
    held.drop([work(1, 11)])
    assert len(held) == 0
