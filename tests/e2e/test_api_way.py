"""The whole way over the API, with the Evaluation Key, on real processes; and every refusal on it."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api_way import ApiWay, Reply
from tests.e2e.stage import ROOT

pytestmark = [pytest.mark.celery, pytest.mark.postgres]


def refused(reply: Reply, status: int, code: str) -> dict[str, Any]:
    """The refusal's detail."""
    assert reply.status_code == status, reply.text
    detail: dict[str, Any] = reply.json()["detail"]
    assert detail["code"] == code, detail
    assert detail["reason"]
    assert detail["doc_url"].startswith("/")
    return detail


# ---- The way ----------------------------------------------------------------------------------


def test_the_check_passes_and_shows_its_progress(api_way: ApiWay) -> None:
    last = api_way.seen["check"][-1]
    assert last["status"] == "passed", last["sentence"]
    assert last["done"] == last["total"] == len(last["report"]["checks"])
    assert last["report"]["gates_passed"] is True


def test_the_smoke_succeeds(api_way: ApiWay) -> None:
    last = api_way.seen["smoke"][-1]
    assert (last["status"], last["publication"]) == ("succeeded", "private")


def test_the_full_succeeds_with_every_unit_done(api_way: ApiWay) -> None:
    last = api_way.seen["full"][-1]
    assert (last["status"], last["outcome"], last["fault"]) == ("succeeded", "succeeded", "")
    assert all(stage["done"] == stage["total"] > 0 for stage in last["stages"]), last["stages"]
    assert last["results"]["scored"] == last["results"]["asks"] == 72


def test_the_full_is_watched_while_it_runs(api_way: ApiWay) -> None:
    done = [sum(stage["done"] for stage in state["stages"]) for state in api_way.seen["full"]]
    assert done == sorted(done)
    assert len(set(done)) > 2


def test_every_unit_is_recorded_once(api_way: ApiWay) -> None:
    query = """
        SELECT count(*), count(DISTINCT (lane_id, position)), count(*) FILTER (WHERE evaluations_unit.status = 'done')
        FROM evaluations_unit JOIN evaluations_run run ON run.id = run_id WHERE run.public_id = %s
    """
    [(units, places, done)] = api_way.stage.sql(query, api_way.id_of("full"))
    assert units == places == done > 200


def test_events_that_are_fetched_bit_by_bit_are_all_events(api_way: ApiWay) -> None:
    whole = api_way.replies["events"].json()["events"]
    assert api_way.events == whole
    assert [event["number"] for event in whole] == list(range(1, len(whole) + 1))
    assert api_way.replies["events_again"].status_code == 304


def test_a_smokes_attempts_carry_their_exchange(api_way: ApiWay) -> None:
    attempts = api_way.replies["smoke_attempts"].json()["attempts"]
    assert attempts
    assert all(attempt["exchange"]["request_body"] for attempt in attempts)


def test_a_fulls_attempts_carry_no_content(api_way: ApiWay) -> None:
    attempts = api_way.replies["full_attempts"].json()["attempts"]
    assert {attempt["operation"] for attempt in attempts} <= {"add", "search"}
    assert all(attempt["exchange"] is None and not attempt["sentence"] for attempt in attempts)


def test_the_bundle_verifies(api_way: ApiWay, tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(api_way.replies["bundle"].content)
    command = [sys.executable, "-m", "evaluations.engine", "verify", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_board_shows_the_row_with_interval_and_rank(api_way: ApiWay) -> None:
    board = api_way.replies["board"].json()
    [row] = board["rows"]
    assert (row["slug"], row["rank"], board["offline"]) == (api_way.own["slug"], 1, True)
    assert row["overall"] == api_way.seen["full"][-1]["results"]["overall"]
    assert row["ci_low"] < row["overall"] < row["ci_high"]


def test_the_board_as_csv_has_the_same_row(api_way: ApiWay) -> None:
    [row, *_baselines] = csv.DictReader(io.StringIO(api_way.replies["board_csv"].text))
    known = api_way.replies["board"].json()["rows"][0]
    assert row["system"] == known["system"]
    assert float(row["overall"]) == known["overall"]


def test_the_system_is_public(api_way: ApiWay) -> None:
    assert api_way.replies["system"].json()["system"] == "Memory of Ada"


def test_me_tells_quota_and_cooldown(api_way: ApiWay) -> None:
    [track] = [one for one in api_way.replies["me"].json()["quota"]["tracks"] if one["track"] == "textual"]
    assert track["fulls"] == {"used": 1, "limit": 2, "left": 1}
    ends = api_way.replies["in_cooldown"].json()["detail"]["next_allowed_at"]
    assert datetime.fromisoformat(track["cooldown_until"]) == datetime.fromisoformat(ends)


# ---- Who asks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("key_malformed", "key_malformed"),
        ("key_mistyped", "key_malformed"),
        ("key_unknown", "key_unknown"),
        ("key_revoked", "key_revoked"),
        ("key_missing", "not_authenticated"),
    ],
)
def test_without_a_good_key_nobody_is_let_in(api_way: ApiWay, name: str, code: str) -> None:
    refused(api_way.replies[name], 401, code)


def test_what_is_somebody_elses_does_not_exist(api_way: ApiWay) -> None:
    assert len(api_way.foreign) == 7
    for reply in api_way.foreign.values():
        refused(reply, 404, "not_found")


# ---- What is asked ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "code", "field"),
    [
        ("missing_field", 400, "invalid_field", "label"),
        ("unknown_field", 400, "invalid_field", "colour"),
        ("unknown_track", 400, "invalid_field", "track"),
        ("foreign_version", 404, "not_found", "version"),
        ("label_taken", 409, "label_taken", "label"),
    ],
)
def test_a_wrong_field_is_named(api_way: ApiWay, name: str, status: int, code: str, field: str) -> None:
    assert refused(api_way.replies[name], status, code)["field"] == field


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("wrong_track", 409, "track_not_entered"),
        ("full_without_check", 409, "check_required"),
        ("full_without_smoke", 409, "smoke_required"),
        ("no_statements", 409, "statements_missing"),
        ("while_one_runs", 409, "active_run"),
        ("in_cooldown", 409, "cooldown"),
        ("smoke_too_soon", 429, "smoke_limit"),
    ],
)
def test_the_rules_refuse_with_a_code(api_way: ApiWay, name: str, status: int, code: str) -> None:
    refused(api_way.replies[name], status, code)


def test_no_refused_order_makes_a_run(api_way: ApiWay) -> None:
    assert len(api_way.counts) == 12
    assert all(before == after for before, after in api_way.counts.values()), api_way.counts


def test_the_missing_statements_are_listed(api_way: ApiWay) -> None:
    missing = api_way.replies["no_statements"].json()["detail"]["missing"]
    assert "rules" not in missing
    assert len(missing) == 6


@pytest.mark.parametrize("name", ["in_cooldown", "smoke_too_soon"])
def test_a_refusal_for_now_says_until_when(api_way: ApiWay, name: str) -> None:
    reply = api_way.replies[name]
    until = datetime.fromisoformat(reply.json()["detail"]["next_allowed_at"])
    assert until.timestamp() > datetime.fromisoformat(api_way.seen["smoke"][-1]["accepted_at"]).timestamp()


def test_the_hourly_limit_says_when_to_come_again(api_way: ApiWay) -> None:
    assert 0 < int(api_way.replies["smoke_too_soon"].headers["Retry-After"]) <= 3600


# ---- Twice ------------------------------------------------------------------------------------


def test_two_orders_at_once_make_one_run(api_way: ApiWay) -> None:
    accepted, other = api_way.pairs["smoke"]
    assert accepted.status_code == 201
    refused(other, 409, "active_run")


@pytest.mark.parametrize("name", ["check", "full"])
def test_the_same_order_with_the_same_key_at_once_is_one(api_way: ApiWay, name: str) -> None:
    first, second = api_way.pairs[name]
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"]


def test_the_same_key_with_another_body_is_refused(api_way: ApiWay) -> None:
    refused(api_way.replies["other_body"], 422, "idempotency_mismatch")


def test_a_participant_sees_no_runs_but_these(api_way: ApiWay) -> None:
    runs = api_way.replies["runs"].json()["runs"]
    assert [run["label"] for run in runs] == ["api full", "api smoke"]
