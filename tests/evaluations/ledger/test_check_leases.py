"""Checks are leased to a driver: renewed while it works, given back when it ends or dies."""

from __future__ import annotations

from datetime import timedelta

import pytest

from aml.web import clock
from evaluations.models import Check
from evaluations.runner import checks
from tests.evaluations.ledger.rows import later
from tests.run_factories import make_check

pytestmark = pytest.mark.django_db


def claimed(*, driver: str = "d-one") -> Check:
    make_check(status="queued")
    found = checks.claim(token=driver)
    assert found is not None
    return Check.objects.get(pk=found.pk)


def test_a_check_is_claimed_once() -> None:
    claimed()
    assert checks.claim(token="d-two") is None


def test_a_renewed_lease_outlasts_a_slow_probe() -> None:
    check = claimed()
    later(minutes=2)
    checks.renew(token="d-one", keys=[check.pk])
    later(minutes=2)
    assert checks.expire() == 0


def test_an_old_lease_goes_back_into_the_queue() -> None:
    check = claimed()
    later(minutes=4)
    assert checks.expire() == 1
    check.refresh_from_db()
    assert (check.status, check.claim_token) == ("queued", "")


def test_a_driver_that_ends_gives_its_checks_back_and_no_others() -> None:
    mine, theirs = claimed(driver="d-one"), claimed(driver="d-two")
    checks.release(token="d-one")
    assert Check.objects.get(pk=mine.pk).status == "queued"
    assert Check.objects.get(pk=theirs.pk).status == "running"


def test_a_report_that_comes_late_changes_nothing() -> None:
    make_check(status="queued")
    first = checks.claim(token="d-one")
    Check.objects.update(claim_token="d-two", claim_expires_at=clock.now() + timedelta(minutes=3))
    assert first is not None
    checks.finish(first, report=None)
    assert Check.objects.get().status == "running"
