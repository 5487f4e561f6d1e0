"""Answers are kept for a day and then forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aml.web import clock, idempotency
from aml.web.models import IdempotencyRecord
from evaluations import signals

pytestmark = pytest.mark.django_db


def answered(key: str, *, age: timedelta) -> None:
    idempotency.once(scope="user:1:act", key=key, request={}, act=lambda: (201, {}))
    IdempotencyRecord.objects.filter(key=key).update(created_at=clock.now() - age)


def test_reconcile_forgets_the_old_and_keeps_the_rest() -> None:
    answered("old", age=idempotency.KEPT + timedelta(minutes=1))
    answered("new", age=idempotency.KEPT - timedelta(minutes=1))
    signals.reconciled.send(None)
    assert [record.key for record in IdempotencyRecord.objects.all()] == ["new"]


def test_the_oldest_go_first_a_batch_at_a_time() -> None:
    for number in range(3):
        answered(str(number), age=idempotency.KEPT + timedelta(minutes=9 - number))
    assert idempotency.forget_old(limit=2) == 2
    assert [record.key for record in IdempotencyRecord.objects.all()] == ["2"]
