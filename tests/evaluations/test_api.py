"""The REST calls of a participant's way."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from evaluations.engine.errors import Code
from evaluations.models import Check, Cooldown, Run
from evaluations.records.transitions import PLATFORM, Why, transition
from evaluations.services import statements
from registration.models import Cycle, Version
from tests.evaluations.conftest import api_of
from tests.factories import make_version
from tests.run_factories import finished_run, make_check, make_run, make_score, ready_version

pytestmark = pytest.mark.django_db


def body(version: Version, *, kind: str = "full", **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "version": version.public_id, "track": "textual", "kind": kind, "label": f"a {kind}",
    }  # fmt: skip
    if kind == "full":
        made["statements"] = {"version": statements.VERSION, "accepted": list(statements.IDS)}
    return {**made, **fields}


def refused(reply: Any, status: int) -> dict[str, Any]:
    assert reply.status_code == status, reply.content
    detail: dict[str, Any] = reply.json()["detail"]
    assert {"code", "reason", "hint", "doc_url"} <= set(detail)
    return detail


# ---- Public -----------------------------------------------------------------------------------


def test_the_contract_holds_every_code_and_an_etag() -> None:
    first = Client().get("/api/v1/contract")
    assert {one["code"] for one in first.json()["errors"]} == set(Code)
    again = Client().get("/api/v1/contract", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304


def test_the_contract_tells_when_the_current_cycle_ends_an_outage(version: Version) -> None:
    Cycle.objects.update(outage_end_hours=6)
    limits = Client().get("/api/v1/contract").json()["limits"]
    assert {one["name"]: one["value"] for one in limits}["outage_end"] == 6 * 3600


def test_the_cycle_tells_statements_policy_and_tracks(version: Version) -> None:
    cycle = Client().get("/api/v1/cycles/current").json()
    assert [one["id"] for one in cycle["statements"]["items"]] == list(statements.IDS)
    assert {"end": "succeeded", "quota": "used", "cooldown": True} in cycle["policy"]
    assert cycle["tracks"][0]["contract"]["offline"] is True


def test_without_a_cycle_there_is_none() -> None:
    refused(Client().get("/api/v1/tracks"), 404)


def test_the_schema_names_every_call() -> None:
    paths = Client().get("/api/v1/openapi.json").json()["paths"]
    assert "/api/v1/runs/{public_id}/cancel" in paths
    assert "/api/v1/boards/{track}/{division}" in paths


def test_the_docs_page_lists_the_schema() -> None:
    page = Client().get("/api/v1/docs/").content.decode()
    assert "/api/v1/runs" in page
    assert "RunRequest" in page


# ---- Who --------------------------------------------------------------------------------------


def test_a_call_needs_a_key() -> None:
    refused(APIClient().get("/api/v1/me"), 401)


def test_foreign_ids_are_unknown(ready: Version) -> None:
    run, check = make_run(), make_check()
    client = api_of(ready)
    for path in (f"runs/{run.public_id}", f"runs/{run.public_id}/events", f"checks/{check.public_id}"):
        refused(client.get(f"/api/v1/{path}"), 404)
    refused(client.post(f"/api/v1/runs/{run.public_id}/cancel"), 404)
    detail = refused(client.post("/api/v1/runs", body(make_version()), format="json"), 404)
    assert detail["field"] == "version"


# ---- /me --------------------------------------------------------------------------------------


def test_me_tells_what_may_start(version: Version) -> None:
    me = api_of(version).get("/api/v1/me").json()
    track = me["entries"][0]["versions"][0]["tracks"]["textual"]
    assert track["may_check"]["allowed"] is True
    assert track["may_start"]["full"]["code"] == "check_required"
    assert me["quota"]["tracks"][0]["fulls"] == {"used": 0, "limit": 2, "left": 2}


def test_me_simulates_an_end(version: Version) -> None:
    client = api_of(version)
    simulated = client.get("/api/v1/me?simulate=succeeded").json()["simulation"][0]
    assert simulated["fulls"] == {"used": 1, "left": 1}
    assert simulated["cooldown_until"] is not None
    assert client.get("/api/v1/me?simulate=failed").json()["simulation"][0]["cooldown_until"] is None
    assert refused(client.get("/api/v1/me?simulate=won"), 400)["field"] == "simulate"


# ---- Checks -----------------------------------------------------------------------------------


def test_a_check_is_requested_and_read(version: Version) -> None:
    client = api_of(version)
    made = client.post("/api/v1/checks", {"version": version.public_id}, format="json")
    assert (made.status_code, made.json()["status"]) == (201, "queued")
    assert client.get(f"/api/v1/checks/{made.json()['id']}").json()["track"] == "textual"


def test_a_second_check_is_refused_by_name(version: Version) -> None:
    client = api_of(version)
    client.post("/api/v1/checks", {"version": version.public_id}, format="json")
    again = client.post("/api/v1/checks", {"version": version.public_id}, format="json")
    assert refused(again, 409)["code"] == "active_check"


def test_of_several_tracks_one_is_named(version: Version) -> None:
    version.entry.tracks.create(track="coding")
    reply = api_of(version).post("/api/v1/checks", {"version": version.public_id}, format="json")
    assert refused(reply, 400)["field"] == "track"


# ---- Starting ---------------------------------------------------------------------------------


def test_a_full_is_started_with_its_stages(ready: Version) -> None:
    reply = api_of(ready).post("/api/v1/runs", body(ready, concurrency={"add": 2}), format="json")
    assert reply.status_code == 201, reply.content
    run = reply.json()
    assert (run["status"], run["publication"], run["outcome"]) == ("queued", "private", None)
    assert [stage["name"] for stage in run["stages"]] == ["ingesting", "searching", "answering", "judging"]
    assert run["concurrency"]["add"] == 2


def test_the_same_key_and_body_get_the_first_answer(ready: Version) -> None:
    client = api_of(ready, HTTP_IDEMPOTENCY_KEY="k1")
    first = client.post("/api/v1/runs", body(ready), format="json")
    again = client.post("/api/v1/runs", body(ready), format="json")
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert again["Idempotency-Replayed"] == "true"
    assert Run.objects.fulls().count() == 1


def test_the_same_key_with_another_body_is_a_422(ready: Version) -> None:
    client = api_of(ready, HTTP_IDEMPOTENCY_KEY="k1")
    client.post("/api/v1/runs", body(ready), format="json")
    other = client.post("/api/v1/runs", body(ready, label="another"), format="json")
    assert refused(other, 422)["code"] == "idempotency_mismatch"


def test_a_refused_call_keeps_its_key_free(version: Version) -> None:
    client = api_of(version, HTTP_IDEMPOTENCY_KEY="k1")
    assert refused(client.post("/api/v1/runs", body(version), format="json"), 409)["code"] == "check_required"
    make_check(version=version)
    assert refused(client.post("/api/v1/runs", body(version), format="json"), 409)["code"] == "smoke_required"


def test_a_cooldown_carries_its_end(ready: Version) -> None:
    run, ends = finished_run(version=ready), timezone.now() + timedelta(days=2)
    Cooldown.objects.create(
        registration=run.registration, track="textual", starts_at=timezone.now(), ends_at=ends, run=run,
        reason="succeeded",
    )  # fmt: skip
    detail = refused(api_of(ready).post("/api/v1/runs", body(ready), format="json"), 409)
    assert (detail["code"], detail["next_allowed_at"]) == ("cooldown", ends.isoformat())


def test_the_hourly_limit_is_a_429_with_retry_after(version: Version) -> None:
    finished_run(version=version, kind="smoke")
    reply = api_of(version).post("/api/v1/runs", body(version, kind="smoke"), format="json")
    assert refused(reply, 429)["code"] == "smoke_limit"
    assert 0 < int(reply["Retry-After"]) <= 3600


def test_missing_statements_are_named(ready: Version) -> None:
    made = body(ready)
    del made["statements"]
    detail = refused(api_of(ready).post("/api/v1/runs", made, format="json"), 409)
    assert (detail["code"], detail["missing"]) == ("statements_missing", list(statements.IDS))


def test_a_taken_label(ready: Version) -> None:
    taken = Run.objects.get(version=ready).label
    reply = api_of(ready).post("/api/v1/runs", body(ready, label=taken), format="json")
    assert refused(reply, 409)["code"] == "label_taken"


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"kind": "half"}, "kind", 'got "half"; expected one of: smoke, full'),
        ({"track": 7}, "track", "got 7"),
        ({"label": "x" * 81}, "label", "80"),
        ({"concurrency": {"add": 0}}, "concurrency", "got 0"),
        ({"concurrency": {"adds": 1}}, "concurrency", "unknown field"),
        ({"concurrency": {"add": 9}}, "concurrency.add", "1 to 8"),
        ({"colour": "red"}, "colour", "unknown field"),
        ({"version": None}, "version", "null"),
    ],
)
def test_a_bad_field_is_named_with_what_came(
    ready: Version, change: dict[str, Any], field: str, said: str
) -> None:
    detail = refused(api_of(ready).post("/api/v1/runs", body(ready) | change, format="json"), 400)
    assert detail["field"] == field
    assert said in detail["reason"]


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "null", '{"version": NaN}', '{"label": "\\ud800"}'])
def test_a_body_that_is_no_object_is_a_400(ready: Version, text: str) -> None:
    refused(api_of(ready).post("/api/v1/runs", text, content_type="application/json"), 400)


def test_a_body_nested_too_deep_is_a_400(ready: Version) -> None:
    text = "[" * 100_000 + "]" * 100_000
    refused(api_of(ready).post("/api/v1/runs", text, content_type="application/json"), 400)


# ---- Watching ---------------------------------------------------------------------------------


def test_a_finished_run_has_results_but_no_small_cell(ready: Version) -> None:
    run = finished_run(version=ready)
    make_score(run)
    seen = api_of(ready).get(f"/api/v1/runs/{run.public_id}").json()
    assert (seen["outcome"], seen["results"]["overall"]) == ("succeeded", 0.6)
    assert [(one["hidden"], one["value"]) for one in seen["results"]["capabilities"]] == [
        (False, 0.6),
        (True, None),
    ]


def test_runs_are_listed_newest_first(ready: Version) -> None:
    newest = make_run(version=ready)
    assert api_of(ready).get("/api/v1/runs").json()["runs"][0]["id"] == newest.public_id


def test_runs_come_in_pages(ready: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluations.api.runs.RUNS", 2)
    for number in range(3):
        finished_run(version=ready, label=f"run {number}")
    client = api_of(ready)
    first = client.get("/api/v1/runs").json()
    rest = client.get("/api/v1/runs", {"before": first["next"]}).json()
    labels = [run["label"] for page in (first, rest) for run in page["runs"]]
    assert labels[:3] == ["run 2", "run 1", "run 0"]
    assert (len(labels), rest["next"]) == (4, None)


def test_runs_before_a_foreign_one_are_a_404(ready: Version) -> None:
    foreign = make_run(version=make_version())
    refused(api_of(ready).get("/api/v1/runs", {"before": foreign.public_id}), 404)


def test_events_are_numbered_and_continue(ready: Version) -> None:
    run = make_run(version=ready)
    transition(run.pk, "running", why=Why(actor=PLATFORM, sentence="Started."))
    transition(run.pk, "cancelled", why=Why(actor=PLATFORM, sentence="Cancelled."))
    client, path = api_of(ready), f"/api/v1/runs/{run.public_id}/events"
    first = client.get(path).json()
    assert [event["number"] for event in first["events"]] == [1, 2]
    rest = client.get(f"{path}?after=1")
    assert [event["status_to"] for event in rest.json()["events"]] == ["cancelled"]
    assert client.get(f"{path}?after=1", headers={"If-None-Match": rest["ETag"]}).status_code == 304
    assert refused(client.get(f"{path}?after=-1"), 400)["field"] == "after"


@pytest.mark.parametrize("query", ["code=NO_SUCH", "operation=judge", "after=x", "after=%F0%9F%98%80"])
def test_wrong_filters_of_attempts_are_named(ready: Version, query: str) -> None:
    run = make_run(version=ready)
    detail = refused(api_of(ready).get(f"/api/v1/runs/{run.public_id}/attempts?{query}"), 400)
    assert detail["field"] == query.partition("=")[0]


def test_cancelling_over_the_api(ready: Version) -> None:
    run = make_run(version=ready)
    reply = api_of(ready).post(f"/api/v1/runs/{run.public_id}/cancel", {}, format="json")
    assert (reply.status_code, reply.json()["status"]) == (200, "cancelled")


def test_resuming_what_is_not_paused(ready: Version) -> None:
    run = make_run(version=ready, status="running")
    reply = api_of(ready).post(f"/api/v1/runs/{run.public_id}/resume")
    assert refused(reply, 409)["code"] == "not_paused"


def test_there_is_no_bundle_before_the_end(ready: Version) -> None:
    run = make_run(version=ready)
    assert refused(api_of(ready).get(f"/api/v1/runs/{run.public_id}/bundle"), 409)["code"] == "no_bundle"


def test_the_bundle_is_the_public_one() -> None:
    run = finished_run(version=ready_version())
    make_score(run)
    reply = api_of(run.version).get(f"/api/v1/runs/{run.public_id}/bundle")
    names = zipfile.ZipFile(io.BytesIO(reply.content)).namelist()
    assert "statement.json" in names
    assert "items.jsonl" not in names


def test_the_same_run_gives_the_same_bundle_whatever_signs_by_then(settings: Settings) -> None:
    run = finished_run(version=ready_version())
    make_score(run)
    client, path = api_of(run.version), f"/api/v1/runs/{run.public_id}/bundle"
    first = client.get(path).content
    settings.SIGNING_KEY = "22" * 32
    assert client.get(path).content == first


def test_a_get_changes_no_row(ready: Version) -> None:
    run = make_run(version=ready)
    before = (Run.objects.count(), Check.objects.count())
    client = api_of(ready)
    for path in ("me", "runs", f"runs/{run.public_id}", f"runs/{run.public_id}/attempts"):
        assert client.get(f"/api/v1/{path}").status_code == 200
    assert (Run.objects.count(), Check.objects.count()) == before
