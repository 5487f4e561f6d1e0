"""The organiser's lists and acts; each act goes through its service."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aml.web.models import AuditEntry
from evaluations.models import QuotaEntry, Run
from registration.models import Version
from tests.factories import make_organiser
from tests.run_factories import make_check, make_contract, make_run, open_track

pytestmark = pytest.mark.django_db


@pytest.fixture
def organiser() -> Client:
    client = Client()
    client.force_login(make_organiser())
    return client


def act(client: Client, name: str, *runs: Run, reason: str = "") -> Any:
    form = {"action": name, "_selected_action": [run.pk for run in runs], "reason": reason}
    return client.post(reverse("admin:evaluations_run_changelist"), form, follow=True)


@pytest.mark.parametrize(
    "name", ["run", "check", "evaluationcontract", "cycletrack", "baseline", "quotaentry"]
)
def test_every_list_opens(organiser: Client, version: Version, name: str) -> None:
    make_run(version=version)
    make_check(version=version)
    assert organiser.get(reverse(f"admin:evaluations_{name}_changelist")).status_code == 200


def test_a_run_is_found_by_host_and_read_only(organiser: Client, version: Version) -> None:
    run = make_run(version=version)
    found = organiser.get(reverse("admin:evaluations_run_changelist"), {"q": "memory.example.com"})
    assert run.label in found.content.decode()
    page = organiser.get(reverse("admin:evaluations_run_change", args=[run.pk])).content.decode()
    assert 'name="_save"' not in page


def test_pausing_and_resuming_in_the_list(organiser: Client, version: Version) -> None:
    run = make_run(version=version, status="running", first_add_at=timezone.now())
    act(organiser, "pause", run, reason="A look.")
    run.refresh_from_db()
    assert (run.status, run.pause_reason) == ("paused", "operator")
    act(organiser, "resume", run)
    run.refresh_from_db()
    assert run.status == "running"


def test_an_act_without_its_reason_says_so(organiser: Client, version: Version) -> None:
    run = make_run(version=version)
    assert "Say why" in act(organiser, "cancel_for_platform", run).content.decode()
    run.refresh_from_db()
    assert run.status == "queued"


def test_a_run_is_cancelled_as_the_platform_s_fault(organiser: Client, version: Version) -> None:
    run = make_run(version=version, status="running", first_add_at=timezone.now())
    act(organiser, "cancel_for_platform", run, reason="Our disk was full.")
    run.refresh_from_db()
    assert (run.status, run.fault) == ("cancelled", "platform")


def test_a_grant_is_a_line_of_the_ledger(organiser: Client, version: Version) -> None:
    form = {
        "registration": version.entry.registration_id, "track": "textual", "kind": "full", "number": 1,
        "reason": "The platform lost one.",
    }  # fmt: skip
    reply = organiser.post(reverse("admin:evaluations_quotaentry_add"), form)
    assert reply.status_code == 302
    assert QuotaEntry.objects.get().amount == -1
    assert AuditEntry.objects.filter(act="quota.granted").exists()


def test_a_track_takes_only_contracts_of_its_own(organiser: Client, version: Version) -> None:
    track = open_track(version.entry.registration.cycle)
    form = {"cycle": track.cycle_id, "track": "textual", "is_open": "on"}
    address = reverse("admin:evaluations_cycletrack_change", args=[track.pk])
    wrong = organiser.post(address, {**form, "contract": make_contract(track="coding").pk})
    assert "expected one of Textual" in wrong.content.decode()
    assert organiser.post(address, {**form, "contract": make_contract().pk}).status_code == 302
    assert AuditEntry.objects.filter(act="track.set", public=True).exists()
