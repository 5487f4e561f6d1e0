"""Every end of a run settles what it reserved, by the policy table."""

from __future__ import annotations

from typing import Any

import pytest

from aml.web import clock
from evaluations.models import Cooldown, QuotaSlot, Run
from evaluations.records import quota
from evaluations.records.transitions import PLATFORM, Why, transition
from registration.types import DEFAULT_POLICY, PolicyRow, QuotaEffect
from tests.evaluations.ledger.rows import accepted_run, later

pytestmark = pytest.mark.django_db


def ended(key: str, **fields: Any) -> Run:
    """A run that ends in the way that the policy's row names."""
    status, _, rest = key.partition(":")
    began = None if rest == "before-first-add" else clock.now()
    run = accepted_run("+?", status="running", first_add_at=began, **fields)
    fault = rest if status == "failed" else ""
    code = "SERVER_ERROR" if status == "failed" else ""
    why = Why(actor=PLATFORM, sentence="Over.", code=code, fault=fault)
    transition(run.pk, status, why=why, stood_still=rest == "platform-stood-still")
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize("row", DEFAULT_POLICY, ids=lambda row: row.key)
def test_quota_slot_and_cooldown_follow_the_row(row: PolicyRow) -> None:
    run = ended(row.key)
    used = row.quota is QuotaEffect.USED
    assert quota.usage(run.registration, track=run.track).used == int(used)
    assert (QuotaSlot.objects.get(run=run).released_at is None) is used
    assert Cooldown.objects.filter(run=run).exists() is row.cooldown
    entries = list(run.quota_entries.order_by("pk").values_list("act", flat=True))
    assert entries == ["reserve", "consume" if used else "refund"]


def test_the_cooldown_runs_from_the_end_for_the_cycles_hours() -> None:
    run = ended("succeeded")
    row = Cooldown.objects.get(run=run)
    assert row.starts_at == run.finished_at
    assert (row.ends_at - row.starts_at).total_seconds() == 720 * 3600
    later(hours=721)
    assert quota.cooldown_until(run.registration, track=run.track, now=clock.now()) is None


def test_a_smoke_takes_no_slot_and_no_cooldown() -> None:
    run = ended("succeeded", kind="smoke")
    assert not QuotaSlot.objects.filter(run=run).exists()
    assert not Cooldown.objects.filter(run=run).exists()
    assert quota.usage(run.registration, track=run.track).used == 0


def test_a_refunded_slot_is_taken_again() -> None:
    run = ended("failed:platform")
    again = Run.objects.get(pk=run.pk)
    again.pk, again.public_id, again.label, again.status = None, "again", "again", "queued"
    again.finished_at, again.code, again.fault, again.sentence = None, "", "", ""
    again.service_released_at = None
    again.save()
    quota.reserve(again, now=clock.now())
    numbers = QuotaSlot.objects.order_by("pk").values_list("number", flat=True)
    assert list(numbers) == [1, 1]
    assert quota.starts_used(run.registration) == 2
