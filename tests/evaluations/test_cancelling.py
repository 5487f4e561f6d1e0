"""Cancelling, pausing and resuming: who may, what it costs, and what is said beforehand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aml.web.errors import Refusal
from aml.web.models import OutboxMessage, User
from evaluations.engine import flow
from evaluations.engine.contract import Limits
from evaluations.models import Run
from evaluations.records import quota
from evaluations.services import cancel_cost, cancel_for_platform, cancel_run, pause_run, resume_run
from registration.models import Member
from tests.factories import make_organiser, make_user
from tests.run_factories import finished_run, make_run

pytestmark = pytest.mark.django_db


def reserved(**fields: Any) -> Run:
    run = make_run(**fields)
    quota.reserve(run, now=timezone.now())
    return run


def running(**fields: Any) -> Run:
    return reserved(**{"status": "running", "first_add_at": timezone.now(), **fields})


def paused(reason: str) -> Run:
    return running(status="paused", pause_reason=reason, paused_at=timezone.now())


def owner_of(run: Run) -> User:
    return run.registration.participant.members.get(role=Member.Role.OWNER).user


def used(run: Run) -> int:
    return quota.usage(run.registration, track=run.track).used


def test_before_the_first_add_cancelling_is_free() -> None:
    run = cancel_run(actor=owner_of(reserved_run := reserved()), run=reserved_run)
    assert run.status == "cancelled"
    assert used(run) == 0
    assert run.events.order_by("-number")[0].sentence.startswith("Cancelled")


def test_later_it_costs_the_full_but_no_cooldown() -> None:
    run = running()
    assert cancel_cost(run).row.key == "cancelled:after-first-add"
    run = cancel_run(actor=owner_of(run), run=run)
    assert used(run) == 1
    assert quota.cooldown_until(run.registration, track=run.track, now=timezone.now()) is None


@pytest.mark.parametrize("reason", ["provider", "operator"])
def test_a_run_that_our_side_keeps_waiting_is_given_back(reason: str) -> None:
    run = paused(reason)
    assert cancel_cost(run).stood_still
    assert used(cancel_run(actor=owner_of(run), run=run)) == 0


def test_a_run_that_waits_for_its_own_service_is_not() -> None:
    run = paused("endpoint")
    assert used(cancel_run(actor=owner_of(run), run=run)) == 1


def test_a_cost_that_has_changed_since_it_was_told_stops_it() -> None:
    run = running()
    with pytest.raises(Refusal) as caught:
        cancel_run(actor=owner_of(run), run=run, expected="cancelled:before-first-add")
    assert caught.value.code == "cost_changed"
    assert Run.objects.get(pk=run.pk).status == "running"


def test_a_run_that_is_over_stays_as_it_is() -> None:
    run = finished_run()
    with pytest.raises(Refusal, match="over"):
        cancel_run(actor=owner_of(run), run=run)


def test_strangers_cancel_nothing() -> None:
    with pytest.raises(Refusal) as caught:
        cancel_run(actor=make_user(), run=running())
    assert caught.value.status == 403


def test_an_organiser_ends_a_run_as_the_platform_s_fault() -> None:
    run = cancel_for_platform(actor=make_organiser(), run=running(), reason="Our disk was full.")
    assert (run.status, run.fault, used(run)) == ("cancelled", "platform", 0)


def test_an_organiser_s_act_needs_a_reason() -> None:
    with pytest.raises(Refusal, match="Say why"):
        pause_run(actor=make_organiser(), run=running(), reason=" ")


def test_a_pause_of_the_organiser_ends_by_the_organiser() -> None:
    organiser = make_organiser()
    run = pause_run(actor=organiser, run=running(), reason="A look at the answers.")
    assert run.pause_reason == "operator"
    with pytest.raises(Refusal, match="organiser"):
        resume_run(actor=owner_of(run), run=run)
    assert resume_run(actor=organiser, run=run).status == "running"


def test_a_run_paused_before_its_start_is_queued_again() -> None:
    organiser = make_organiser()
    run = pause_run(actor=organiser, run=reserved(), reason="Not yet.")
    assert resume_run(actor=organiser, run=run).status == "queued"


def test_a_pause_is_told_by_mail_once() -> None:
    pause_run(actor=make_organiser(), run=running(), reason="A look.")
    assert OutboxMessage.objects.filter(template="run_paused").count() == 1


def waiting_for_probe() -> Run:
    now = timezone.now().timestamp()
    state = flow.start(add=4, search=4, limits=Limits())
    later = flow.Breaker(opened_at=now - 400, next_probe_at=now + 200)
    run = paused("endpoint")
    run.flow = {**state.to_json(), "failing_since": now - 400}
    run.flow["breaker"] = {"opened_at": later.opened_at, "next_probe_at": later.next_probe_at, "probes": 3}
    run.save()
    return run


def test_resuming_after_an_outage_lets_the_next_probe_go_at_once() -> None:
    run = waiting_for_probe()
    run = resume_run(actor=owner_of(run), run=run)
    assert run.status == "paused"
    assert run.flow["breaker"]["next_probe_at"] <= timezone.now().timestamp() + 1
    assert run.events.order_by("-number")[0].kind == "probe"


def test_a_participant_cannot_hurry_the_model_provider() -> None:
    run = paused("provider")
    with pytest.raises(Refusal) as caught:
        resume_run(actor=owner_of(run), run=run)
    assert caught.value.code == "waiting_for_provider"


def test_a_run_that_goes_on_needs_no_resuming() -> None:
    run = running(accepted_at=timezone.now() - timedelta(hours=1))
    with pytest.raises(Refusal) as caught:
        resume_run(actor=owner_of(run), run=run)
    assert caught.value.code == "not_paused"
