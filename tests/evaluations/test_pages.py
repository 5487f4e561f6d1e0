"""The desk, checks, starts and runs as pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aml.web.forms import new_nonce
from evaluations.models import Check, Cooldown, Run
from evaluations.records.transitions import PLATFORM, Why, transition
from evaluations.services import statements
from registration.models import Member, Registration, Version
from tests.evaluations.conftest import owner_of, page_of
from tests.factories import (
    make_cycle,
    make_entry,
    make_key,
    make_member,
    make_participant,
    make_registration,
    make_user,
    make_version,
)
from tests.run_factories import finished_run, make_check, make_run, make_score

pytestmark = pytest.mark.django_db


def text(reply: Any) -> str:
    body: str = reply.content.decode()
    return " ".join(body.split())


def desk_of(user: Any) -> str:
    client = Client()
    client.force_login(user)
    return text(client.get(reverse("evaluations:desk")))


# ---- Desk -------------------------------------------------------------------------------------


def test_strangers_log_in_first() -> None:
    assert Client().get(reverse("evaluations:desk")).status_code == 302


def test_without_a_participant_the_act_is_to_create_one() -> None:
    make_cycle()
    assert reverse("registration:participant_new") in desk_of(make_user())


def test_without_a_registration_the_act_is_to_register() -> None:
    make_cycle()
    participant = make_participant()
    assert reverse("registration:register") in desk_of(participant.members.get().user)


def test_before_the_opening_the_act_says_when() -> None:
    make_cycle(opens_at=timezone.now() + timedelta(days=2))
    page = desk_of(make_participant().members.get().user)
    assert "Registration opens on" in page
    assert "Opens" in page


def test_while_the_organiser_decides_a_system_may_be_entered() -> None:
    registration = make_registration(status=Registration.Status.SUBMITTED)
    page = desk_of(registration.participant.members.get().user)
    assert "Enter your system" in page
    make_version(entry=make_entry(registration=registration))
    assert "The organiser decides" in desk_of(registration.participant.members.get().user)


def test_a_refused_registration_shows_the_reason() -> None:
    registration = make_registration(status="rejected", decision_reason="No such repository.")
    page = desk_of(registration.participant.members.get().user)
    assert "No such repository." in page


def test_the_acts_follow_one_another(version: Version) -> None:
    owner = owner_of(version)
    assert "Make your Evaluation Key" in desk_of(owner)
    make_key(registration=version.entry.registration)
    assert "Check your service" in desk_of(owner)
    make_check(version=version, status="failed")
    assert "Repair what the check found" in desk_of(owner)
    make_check(version=version)
    assert "Start a Smoke of" in desk_of(owner)
    finished_run(version=version, kind="smoke")
    assert "Go to the confirmation" in desk_of(owner)
    make_run(version=version)
    assert "Watch the run" in desk_of(owner)


def test_a_disabled_act_says_why_and_when(ready: Version) -> None:
    run = finished_run(version=ready)
    Cooldown.objects.create(
        registration=run.registration, track="textual", starts_at=timezone.now(), run=run,
        ends_at=timezone.now() + timedelta(days=3), reason="succeeded",
    )  # fmt: skip
    make_key(registration=run.registration)
    page = desk_of(owner_of(ready))
    assert "The cooldown in this track lasts until" in page
    assert reverse("evaluations:full_start", args=[ready.public_id]) + '?track=textual" id="act"' not in page


def test_a_viewer_sees_the_desk_and_no_way_to_act(version: Version) -> None:
    make_key(registration=version.entry.registration)
    viewer = make_member(participant=version.entry.registration.participant, role=Member.Role.VIEWER).user
    page = desk_of(viewer)
    assert "You are a viewer" in page
    assert reverse("evaluations:check_start", args=[version.public_id]) not in page


# ---- Checks -----------------------------------------------------------------------------------


def press_check(client: Client, version: Version, *, nonce: str = "") -> Any:
    form = {"track": "textual", "nonce": nonce or new_nonce()}
    return client.post(reverse("evaluations:check_start", args=[version.public_id]), form)


def test_the_button_leads_to_the_report(version: Version) -> None:
    reply = press_check(page_of(version), version)
    assert reply["Location"] == reverse("evaluations:check", args=[Check.objects.get().public_id])


def test_a_second_click_leads_to_the_same_check(version: Version) -> None:
    client, nonce = page_of(version), new_nonce()
    answers = {press_check(client, version, nonce=nonce)["Location"] for _ in range(2)}
    answers.add(press_check(client, version)["Location"])
    assert len(answers) == 1
    assert Check.objects.count() == 1


def test_a_check_is_never_started_by_a_link(version: Version) -> None:
    address = reverse("evaluations:check_start", args=[version.public_id])
    assert page_of(version).get(address).status_code == 405


def exchange(**fields: Any) -> dict[str, Any]:
    return {
        "operation": "add", "method": "POST", "url": "https://memory.example.com/add", "started_at": 0.0,
        "timing": {"latency": 0.1}, "request_headers": [["Authorization", "•••"]], "request_body": "{}", "status": 200,
        "response_headers": [], "response_body": "<script>", "failure": None, "warnings": [],
        **fields,
    }  # fmt: skip


def report(outcome: str) -> dict[str, Any]:
    line = {
        "name": "auth.refuses", "severity": "gate", "outcome": outcome, "sentence": "A wrong key was accepted.",
        "expected": "401 or 403", "advice": "Refuse it.", "codes": [], "exchanges": [exchange()],
    }  # fmt: skip
    return {"gates_passed": outcome == "pass", "counts": {outcome: 1}, "checks": [line], "endpoint": {}}


def test_a_report_says_what_to_do_and_shows_the_exchange(version: Version) -> None:
    check = make_check(version=version, status="failed", report=report("fail"))
    page = text(page_of(version).get(reverse("evaluations:check", args=[check.public_id])))
    assert "Refuse it." in page
    assert "Authorization: •••" in page
    assert "&lt;script&gt;" in page


def test_the_report_is_there_as_json(version: Version) -> None:
    check = make_check(version=version, report=report("pass"))
    reply = page_of(version).get(reverse("evaluations:check_report", args=[check.public_id]))
    assert reply.json()["gates_passed"] is True


def test_a_check_under_way_asks_for_itself_until_it_is_over(version: Version) -> None:
    check = make_check(version=version, status="running", done=3, total=27)
    client, address = page_of(version), reverse("evaluations:check_progress", args=[check.public_id])
    first = client.get(address, headers={"HX-Request": "true"})
    assert f'hx-get="{address}"' in text(first)
    assert client.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    Check.objects.filter(pk=check.pk).update(
        status="passed", finished_at=timezone.now(), report=report("pass")
    )
    over = client.get(address, headers={"HX-Request": "true"})
    assert over["HX-Refresh"] == "true"
    assert "hx-get" not in text(over)


# ---- Starting ---------------------------------------------------------------------------------


def full_form(**fields: Any) -> dict[str, Any]:
    return {
        "label": "First Full", "add": 4, "search": 8, "nonce": new_nonce(),
        "statements_version": statements.VERSION, **dict.fromkeys(statements.IDS, "on"), **fields,
    }  # fmt: skip


def test_the_confirmation_tells_the_cost_before_the_button(ready: Version) -> None:
    page = text(page_of(ready).get(reverse("evaluations:full_start", args=[ready.public_id])))
    assert "Full 1 of 2" in page
    assert "30 d" in page
    assert page.index("Cooldown") < page.index("Start the Full</button>")
    assert page.count('type="checkbox"') == len(statements.IDS)


def test_a_confirmed_full_leads_to_its_page(ready: Version) -> None:
    reply = page_of(ready).post(reverse("evaluations:full_start", args=[ready.public_id]), full_form())
    run = Run.objects.fulls().get()
    assert reply["Location"] == reverse("evaluations:run", args=[run.public_id])
    assert run.spec["concurrency"] == {"add": 4, "search": 8}


def test_an_unticked_statement_keeps_what_was_typed(ready: Version) -> None:
    form = full_form(label="Kept")
    del form["data"]
    reply = page_of(ready).post(reverse("evaluations:full_start", args=[ready.public_id]), form)
    assert reply.status_code == 422
    assert 'value="Kept"' in text(reply)
    assert not Run.objects.fulls().exists()


def test_a_refused_full_shows_the_reason_in_place_of_the_button(version: Version) -> None:
    page = text(page_of(version).get(reverse("evaluations:full_start", args=[version.public_id])))
    assert "no conformance check" in page
    assert "Start the Full</button>" in page
    assert 'aria-disabled="true"' in page


def test_sending_a_refused_form_starts_nothing(version: Version) -> None:
    reply = page_of(version).post(reverse("evaluations:full_start", args=[version.public_id]), full_form())
    assert reply.status_code == 422
    assert not Run.objects.exists()


def test_a_smoke_is_started_from_its_page(version: Version) -> None:
    client, address = page_of(version), reverse("evaluations:smoke_start", args=[version.public_id])
    assert "1 of 30 with this one" in text(client.get(address))
    form = {"label": "Try", "add": 1, "search": 1, "nonce": new_nonce()}
    client.post(address, form)
    client.post(address, form)
    assert Run.objects.smokes().count() == 1


def test_foreign_versions_runs_and_checks_are_404(version: Version) -> None:
    stranger = Client()
    stranger.force_login(owner_of(make_version()))
    run, check = make_run(version=version), make_check(version=version)
    for name, found in (
        ("full_start", version), ("smoke_start", version), ("run", run), ("run_progress", run),
        ("run_cancel", run), ("run_resume", run), ("exchanges", run), ("run_bundle", run), ("check", check),
    ):  # fmt: skip
        assert stranger.get(reverse(f"evaluations:{name}", args=[found.public_id])).status_code == 404, name


@pytest.mark.parametrize("name", ["nothing", "a b"])
def test_an_unknown_registration_is_a_404(version: Version, name: str) -> None:
    assert page_of(version).get(reverse("evaluations:desk") + f"?registration={name}").status_code == 404


# ---- Runs -------------------------------------------------------------------------------------


def page(run: Run, name: str = "run") -> str:
    return text(page_of(run.version).get(reverse(f"evaluations:{name}", args=[run.public_id])))


def test_a_queued_full_shows_its_deadline(version: Version) -> None:
    assert "Started at the latest" in page(make_run(version=version))


def test_a_paused_run_says_who_must_do_what(version: Version) -> None:
    run = make_run(version=version, status="paused", pause_reason="endpoint", paused_at=timezone.now())
    assert "bring your service back" in page(run)
    assert reverse("evaluations:run_resume", args=[run.public_id]) in page(run)


def test_results_are_private_and_small_cells_hidden(version: Version) -> None:
    run = finished_run(version=version)
    make_score(run)
    shown = page(run)
    assert "60.0" in shown
    assert "too few to show" in shown
    assert "Offline models" in shown


def test_a_failed_run_names_code_and_fault(version: Version) -> None:
    shown = page(finished_run(version=version, status="failed"))
    assert "SERVER_ERROR" in shown
    assert "Your service" in shown


def test_the_poll_ends_with_the_run(version: Version) -> None:
    run = make_run(version=version, status="running", first_add_at=timezone.now())
    address = reverse("evaluations:run_progress", args=[run.public_id])
    client = page_of(version)
    first = client.get(address, headers={"HX-Request": "true"})
    assert "HX-Refresh" not in first
    assert client.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    transition(run.pk, "cancelled", why=Why(actor=PLATFORM, sentence="Cancelled."))
    assert client.get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_cancelling_tells_its_price_first(version: Version) -> None:
    run = make_run(version=version, status="running", first_add_at=timezone.now())
    assert "used: it does not come back" in page(run, "run_cancel")


def test_cancelling_from_the_page(version: Version) -> None:
    run, client = make_run(version=version), page_of(version)
    address = reverse("evaluations:run_cancel", args=[run.public_id])
    assert client.post(address, {"expected": "cancelled:before-first-add"}).status_code == 302
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_a_price_that_has_changed_is_told_again(version: Version) -> None:
    run = make_run(version=version, status="running", first_add_at=timezone.now())
    address = reverse("evaluations:run_cancel", args=[run.public_id])
    reply = page_of(version).post(address, {"expected": "cancelled:before-first-add"})
    assert reply.status_code == 409
    assert "costs something else" in text(reply)


def test_a_viewer_reads_runs_and_cancels_none(version: Version) -> None:
    run = make_run(version=version)
    client = Client()
    client.force_login(make_member(participant=run.registration.participant, role="viewer").user)
    shown = client.get(reverse("evaluations:run", args=[run.public_id]))
    assert reverse("evaluations:run_cancel", args=[run.public_id]) not in text(shown)
    assert client.post(reverse("evaluations:run_cancel", args=[run.public_id])).status_code == 403


def test_a_full_shows_no_exchange(version: Version) -> None:
    run = finished_run(version=version)
    reply = page_of(version).get(reverse("evaluations:exchanges", args=[run.public_id]))
    assert reply.status_code == 404
    assert "its questions are private" in text(reply)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_results_are_there_as_files(version: Version, form: str) -> None:
    run = finished_run(version=version)
    make_score(run)
    reply = page_of(version).get(reverse("evaluations:run_results", args=[run.public_id, form]))
    assert reply.status_code == 200
    assert "recall" in text(reply)


def test_chinese_pages_render(version: Version) -> None:
    run = make_run(version=version)
    assert page_of(version).get(f"/zh-hans/evaluation/runs/{run.public_id}/").status_code == 200
