"""Every public page, in both languages, with and without a cycle."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from aml.lib.canonical import canonical_hash
from aml.pages.cycles import local_time
from aml.pages.rules import policy
from aml.web import audit
from aml.web.models import Heartbeat, PlatformState
from registration.types import DEFAULT_POLICY
from tests.factories import make_cycle
from tests.leaderboard.rows import make_contract
from tests.run_factories import make_run, open_track

pytestmark = pytest.mark.django_db
PAGES = ("/", "/rules/", "/api-guide/", "/docs/", "/benchmarks/", "/status/", "/audit/", "/outbox/")


@pytest.mark.parametrize("prefix", ["", "/zh-hans"])
@pytest.mark.parametrize("address", PAGES)
def test_every_page_opens_without_a_cycle(client: Client, prefix: str, address: str) -> None:
    assert client.get(prefix + address).status_code == 200


@pytest.mark.parametrize("prefix", ["", "/zh-hans"])
@pytest.mark.parametrize("address", PAGES)
def test_every_page_opens_in_a_cycle(client: Client, prefix: str, address: str) -> None:
    open_track(make_cycle(title_zh="第二届", timezone="AoE"), contract=make_contract())
    assert client.get(prefix + address).status_code == 200


@pytest.mark.parametrize("address", PAGES)
def test_a_page_changes_nothing(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405


def test_home_says_how_long_each_date_is_away(client: Client) -> None:
    make_cycle(registration_closes_at=timezone.now() + timedelta(days=20, hours=5, minutes=30))
    text = client.get("/").content.decode()
    assert "in 20 d 5 h" in text
    assert "1 d ago" in text


def test_a_date_is_told_in_the_cycles_own_zone_too() -> None:
    noon = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)
    assert local_time(noon, zone="AoE") == "2026-12-02 00:00 AoE"
    assert local_time(noon, zone="Asia/Shanghai") == "2026-12-02 20:00 Asia/Shanghai"


def test_the_rules_follow_the_cycle(client: Client) -> None:
    make_cycle(full_limit=7, cooldown_hours=48, smoke_fresh_hours=11)
    text = client.get("/rules/").content.decode()
    assert "Each registration has 7" in text
    assert "2 d (48 hours)" in text
    assert "not older than 11 hours" in text


def test_the_rules_show_the_policy_that_is_applied() -> None:
    assert [(row["key"], row["cooldown"]) for row in policy()] == [
        (row.key, row.cooldown) for row in DEFAULT_POLICY
    ]


def test_a_private_pack_shows_its_facts_and_not_its_content(client: Client) -> None:
    open_track(make_cycle(), contract=make_contract())
    text = client.get("/benchmarks/").content.decode()
    assert "Full of this cycle" in text
    assert "a private question" not in text


def test_a_private_pack_that_no_cycle_uses_is_not_shown(client: Client) -> None:
    contract = make_contract()
    text = client.get("/benchmarks/").content.decode()
    assert contract.full_pack.title not in text
    assert contract.smoke_pack.title in text


def test_status_counts_the_queue_and_names_no_run(client: Client) -> None:
    run = make_run()
    response = client.get("/status/")
    full = response.context["queue"][1]
    assert (full["queued"], full["oldest"]) == (1, run.accepted_at)
    assert run.public_id not in response.content.decode()


def test_status_is_down_while_work_waits_and_no_worker_is_heard_of(client: Client) -> None:
    make_run()
    assert client.get("/status/").context["overall"] == "down"
    Heartbeat.objects.create(name="d1", kind="driver", beat_at=timezone.now())
    assert client.get("/status/").context["overall"] == "ok"


def test_status_tells_of_maintenance(client: Client) -> None:
    PlatformState.objects.create(maintenance=True, maintenance_reason="New disks.")
    response = client.get("/status/")
    assert response.context["overall"] == "degraded"
    assert "New disks." in response.content.decode()


def test_the_log_shows_public_rows_only_once_sealed(client: Client) -> None:
    audit.record("row.published", subject="run:seen", public=True)
    audit.record("key.made", subject="key:hidden")
    assert "run:seen" not in client.get("/audit/").content.decode()
    audit.seal()
    text = client.get("/audit/").content.decode()
    assert "run:seen" in text
    assert "key:hidden" not in text


def test_anybody_can_compute_a_public_rows_hash(client: Client) -> None:
    audit.record("row.published", subject="run:seen", public=True, overall=0.5)
    audit.seal()
    row = client.get("/api/v1/audit").json()["rows"][0]
    assert row.pop("entry_hash") == canonical_hash(row)


def test_the_log_goes_on_after_a_number(client: Client) -> None:
    for number in range(3):
        audit.record("row.published", subject=f"run:{number}", public=True)
    audit.seal()
    rows = client.get("/api/v1/audit?after=2").json()["rows"]
    assert [row["subject"] for row in rows] == ["run:2"]
    assert client.get("/api/v1/audit?after=x").json()["detail"]["field"] == "after"


def test_the_header_and_footer_lead_to_the_public_pages(client: Client) -> None:
    text = client.get("/").content.decode()
    for address in (
        "/leaderboard/",
        "/benchmarks/",
        "/docs/",
        "/rules/",
        "/api-guide/",
        "/audit/",
        "/status/",
    ):
        assert f'href="{address}"' in text
