"""Starting a run: what is written when it is accepted, and each refusal."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import AuditEntry, PlatformState, User
from evaluations.models import Attempt, Cooldown, Lane, QuotaEntry, Run, Unit
from evaluations.records import quota
from evaluations.services import Decision, Facts, Order, may_start, start_run
from registration.models import Member, Version
from registration.services import update_version
from tests.factories import make_cycle, make_member, make_registration, make_version
from tests.run_factories import (
    finished_run,
    full_order,
    make_check,
    make_run,
    open_track,
    ready_version,
    smoke_order,
)

pytestmark = pytest.mark.django_db


def owner_of(version: Version) -> User:
    return version.entry.registration.participant.members.get(role=Member.Role.OWNER).user


def start(version: Version, order: Order | None = None) -> Run:
    return start_run(actor=owner_of(version), version=version, order=order or full_order())


def refused(version: Version, order: Order | None = None) -> Refusal:
    before = Run.objects.count()
    with pytest.raises(Refusal) as caught:
        start(version, order)
    assert Run.objects.count() == before
    return caught.value


def smokable() -> Version:
    version = make_version()
    open_track(version.entry.registration.cycle)
    return version


def test_an_accepted_full_freezes_reserves_and_writes_its_first_event() -> None:
    version = ready_version()
    run = start(version)
    version.refresh_from_db()
    assert version.frozen_at == run.accepted_at
    assert run.quota_slot.number == 1
    assert [entry.act for entry in run.quota_entries.all()] == [QuotaEntry.Act.RESERVE]
    event = run.events.get()
    assert (event.number, event.kind, event.status_to, event.actor) == (
        1,
        "accepted",
        "queued",
        "participant",
    )
    assert AuditEntry.objects.filter(act="run.accepted", subject=f"run:{run.public_id}").exists()


def test_the_spec_copies_what_was_decided_and_no_key() -> None:
    version = ready_version()
    run = start(version, full_order(add=2))
    assert run.spec["endpoint"]["add_url"] == version.add_url
    assert run.spec["concurrency"] == {"add": 2, "search": version.search_concurrency}
    assert set(run.spec["statements"]["accepted"]) >= {"rules", "frozen", "cost"}
    assert "key" not in str(run.spec["endpoint"])


def test_what_ends_a_run_is_what_the_cycle_said_at_acceptance() -> None:
    run = start(ready_version())
    told = run.cycle.outage_end_hours, run.cycle.zero_share_succeeded
    type(run.cycle).objects.update(outage_end_hours=1, zero_share_succeeded=0.0)
    run = Run.objects.get(pk=run.pk)
    assert (run.rule("outage_end_hours"), run.rule("zero_share_succeeded")) == told


def test_a_full_has_the_cycle_s_start_deadline() -> None:
    run = start(ready_version())
    assert run.start_deadline_at - run.accepted_at == timedelta(hours=run.cycle.start_deadline_hours)


def test_a_smoke_freezes_nothing_and_takes_the_public_pack() -> None:
    version = smokable()
    run = start(version, smoke_order())
    version.refresh_from_db()
    assert version.frozen_at is None
    assert run.pack == run.contract.smoke_pack


def test_another_smoke_within_the_hour_is_a_429_with_its_time() -> None:
    version = smokable()
    first = finished_run(version=version, kind="smoke", accepted_at=timezone.now() - timedelta(minutes=50))
    refusal = refused(version, smoke_order())
    assert (refusal.code, refusal.status) == ("smoke_limit", 429)
    assert refusal.extra["next_allowed_at"] == (first.accepted_at + timedelta(hours=1)).isoformat()
    assert 0 < refusal.extra["retry_after"] <= 600


def test_a_smoke_that_failed_through_us_does_not_count_for_the_hour() -> None:
    version = smokable()
    run = finished_run(version=version, kind="smoke")
    QuotaEntry.objects.create(
        registration=run.registration, track="textual", kind="smoke", act="refund", amount=-1, run=run,
        reason="failed:platform", at=timezone.now(),
    )  # fmt: skip
    assert start(version, smoke_order()).kind == "smoke"


def test_all_smokes_of_the_track_used() -> None:
    version = make_version(entry=None)
    cycle = version.entry.registration.cycle
    cycle.smokes_per_track = 0
    cycle.save()
    open_track(cycle)
    assert refused(version, smoke_order()).code == "quota_used"


def test_one_active_full_in_a_track() -> None:
    version = ready_version()
    run = start(version)
    refusal = refused(version)
    assert refusal.code == "active_run"
    assert refusal.extra["run"] == run.public_id


def test_cooldown_names_its_end() -> None:
    version = ready_version()
    ends = timezone.now() + timedelta(days=3)
    run = finished_run(version=version)
    Cooldown.objects.create(
        registration=run.registration, track="textual", starts_at=timezone.now(), ends_at=ends, run=run,
        reason="succeeded",
    )  # fmt: skip
    refusal = refused(version)
    assert refusal.code == "cooldown"
    assert refusal.extra["next_allowed_at"] == ends.isoformat()


def test_a_cooldown_beyond_the_last_start_opens_never() -> None:
    version = ready_version()
    run = finished_run(version=version)
    Cooldown.objects.create(
        registration=run.registration, track="textual", starts_at=timezone.now(),
        ends_at=run.cycle.full_closes_at + timedelta(hours=1), run=run, reason="succeeded",
    )  # fmt: skip
    assert refused(version).extra["next_allowed_at"] is None


def test_next_allowed_at_is_the_first_moment_at_which_it_is_allowed() -> None:
    version = ready_version()
    ends = timezone.now() + timedelta(hours=5)
    run = finished_run(version=version)
    Cooldown.objects.create(
        registration=run.registration, track="textual", starts_at=timezone.now(), ends_at=ends, run=run,
        reason="succeeded",
    )  # fmt: skip

    def asked_at(now: datetime) -> Decision:
        facts = Facts(version.entry.registration, now=now)
        return may_start(version=version, track="textual", kind="full", facts=facts)

    assert asked_at(ends).allowed
    assert asked_at(ends - timedelta(seconds=1)).next_allowed_at == ends


def used_up(version: Version, *, number: int) -> None:
    for _ in range(number):
        run = finished_run(version=version, finished_at=timezone.now() - timedelta(days=40))
        quota.reserve(run, now=timezone.now())


def test_all_fulls_used() -> None:
    version = ready_version()
    used_up(version, number=2)
    refusal = refused(version)
    assert refusal.code == "quota_used"
    assert refusal.extra["next_allowed_at"] is None


def test_a_grant_gives_one_more() -> None:
    version = ready_version()
    used_up(version, number=2)
    QuotaEntry.objects.create(
        registration=version.entry.registration, track="textual", kind="full", act="grant", amount=-1,
        reason="a fair chance", at=timezone.now(),
    )  # fmt: skip
    assert start(version).status == "queued"


def test_starts_have_a_cap_of_their_own() -> None:
    version = ready_version()
    cycle = version.entry.registration.cycle
    cycle.start_limit = 0
    cycle.save()
    assert refused(version).code == "starts_used"


def test_a_full_needs_a_passed_check() -> None:
    version = ready_version()
    version.checks.all().delete()
    assert refused(version).code == "check_required"


def test_the_newest_check_decides() -> None:
    version = ready_version()
    make_check(version=version, status="failed")
    assert refused(version).code == "check_required"


def test_a_check_of_other_endpoints_does_not_count() -> None:
    version = ready_version()
    endpoint = {
        "add_url": "https://elsewhere.example/add",
        "search_url": version.search_url,
        "auth": "bearer",
    }
    make_check(version=version, report={"endpoint": endpoint})
    assert refused(version).code == "check_required"


def test_a_full_needs_a_passing_smoke() -> None:
    version = ready_version()
    Run.objects.filter(version=version).delete()
    assert refused(version).code == "smoke_required"


def test_a_smoke_grows_stale() -> None:
    version = ready_version()
    cycle = version.entry.registration.cycle
    cycle.smoke_fresh_hours = 1
    cycle.save()
    assert refused(version).code == "smoke_stale"


def test_a_version_edited_after_its_tests_is_tested_again() -> None:
    version = ready_version()
    owner = version.entry.registration.participant.members.get(role=Member.Role.OWNER).user
    update_version(actor=owner, version=version, values={"add_concurrency": 64})
    version.refresh_from_db()
    assert refused(version).code == "check_required"
    make_check(version=version)
    assert refused(version).code == "smoke_stale"


def test_a_smoke_of_other_endpoints_is_stale() -> None:
    version = ready_version()
    version.search_url = "https://elsewhere.example/search"
    version.save()
    assert refused(version).code == "smoke_stale"


def test_a_label_is_used_once() -> None:
    version = ready_version()
    taken = Run.objects.get(version=version).label
    refusal = refused(version, full_order(label=taken))
    assert (refusal.code, refusal.status) == ("label_taken", 409)


def test_every_statement_must_be_accepted() -> None:
    refusal = refused(ready_version(), full_order(accepted=("rules",)))
    assert refusal.code == "statements_missing"
    assert "cost" in refusal.extra["missing"]


def test_statements_of_an_older_text_are_refused() -> None:
    assert refused(ready_version(), full_order(statements_version=0)).code == "statements_missing"


def test_only_an_approved_registration_starts() -> None:
    version = ready_version(registration=make_registration(status="submitted"))
    assert refused(version).code == "not_approved"


def test_only_an_entered_track_starts() -> None:
    version = ready_version()
    open_track(version.entry.registration.cycle, track="coding")
    assert refused(version, full_order(track="coding")).code == "track_not_entered"


def test_after_the_last_start_no_full_but_a_smoke() -> None:
    past = timezone.now() - timedelta(days=1)
    cycle = make_cycle(opens_at=past - timedelta(days=9), registration_closes_at=past, full_closes_at=past)
    version = ready_version(registration=make_registration(cycle=cycle))
    assert refused(version).code == "cycle_closed"
    assert start(version, smoke_order()).kind == "smoke"


def test_before_the_cycle_opens_the_opening_is_named() -> None:
    cycle = make_cycle(opens_at=timezone.now() + timedelta(days=1))
    version = ready_version(registration=make_registration(cycle=cycle))
    refusal = refused(version)
    assert refusal.extra["next_allowed_at"] == cycle.opens_at.isoformat()


def test_a_track_without_a_contract_is_closed() -> None:
    version = ready_version()
    version.entry.registration.cycle.tracks.update(is_open=False)
    assert refused(version).code == "cycle_closed"


def test_maintenance_stops_every_start() -> None:
    version = ready_version()
    PlatformState.objects.create(maintenance=True, maintenance_reason="New disks.")
    refusal = refused(version)
    assert (refusal.code, refusal.reason) == ("maintenance", "New disks.")


def test_no_full_while_our_account_with_the_provider_is_empty() -> None:
    waiting = make_run(status="paused", pause_reason="provider", paused_at=timezone.now())
    sample = waiting.pack.samples.create(key="s", dataset="d", position=0, adds=1, asks=0, content_hash="h")
    event = sample.events.create(position=0, kind="add", body=b"", size=0)
    lane = Lane.objects.create(run=waiting, position=0, sample="s", dataset="d", steps=1, remaining=1)
    unit = Unit.objects.create(
        run=waiting, lane=lane, kind="answer", position=0, step=0, event=event, ask="a"
    )
    Attempt.objects.create(
        unit=unit, run=waiting, kind="answer", number=1, claim_token="t", state="done", code="MODEL_CREDIT",
        started_at=timezone.now(), finished_at=timezone.now(),
    )  # fmt: skip
    assert refused(ready_version()).code == "budget"


def test_a_withdrawn_version_does_not_start() -> None:
    version = ready_version()
    version.withdrawn_at = timezone.now()
    version.save()
    assert refused(version).code == "version_withdrawn"


def test_a_full_without_a_memory_key_needs_the_cycle_s_leave() -> None:
    version = ready_version(auth_scheme="none")
    assert refused(version).code == "auth_required"
    cycle = version.entry.registration.cycle
    cycle.allow_no_auth_full = True
    cycle.save()
    assert start(version).status == "queued"


@pytest.mark.parametrize(
    ("order", "field"),
    [
        (full_order(label="  "), "label"),
        (full_order(label="x" * 81), "label"),
        (full_order(label="a\u202eb"), "label"),
        (full_order(track="audio"), "track"),
        (full_order(kind="half"), "kind"),
        (full_order(add=0), "concurrency.add"),
        (full_order(search=257), "concurrency.search"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(order: Order, field: str) -> None:
    refusal = refused(ready_version(), order)
    assert isinstance(refusal, FieldRefusal)
    assert (refusal.field, refusal.status) == (field, 400)


def test_a_viewer_may_not_start() -> None:
    version = ready_version()
    viewer = make_member(participant=version.entry.registration.participant, role=Member.Role.VIEWER)
    with pytest.raises(Refusal, match="viewer"):
        start_run(actor=viewer.user, version=version, order=full_order())
