"""A system's public profile."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from evaluations.models import Run
from evaluations.records.transitions import PLATFORM, Why, publish_move
from leaderboard import services
from tests.factories import make_entry
from tests.leaderboard.rows import scored_full

pytestmark = pytest.mark.django_db


def published(**version: Any) -> str:
    entry = make_entry(slug="palimpsest", name="Palimpsest")
    run = scored_full(entry=entry, **version)
    services.settle(run.pk)
    return run.public_id


@pytest.mark.parametrize("prefix", ["", "/zh-hans"])
def test_a_published_system_has_a_profile(client: Client, prefix: str) -> None:
    published()
    text = client.get(f"{prefix}/systems/palimpsest/").content.decode()
    assert "https://github.com/example/memory" in text
    assert "Palimpsest" in text


def test_only_fields_that_were_chosen_are_public(client: Client) -> None:
    published(public_fields=["organisation"], organisation="The Lab", runtime_environment="Two secret cores")
    found = client.get("/api/v1/systems/palimpsest").json()
    assert found["versions"] == [
        {
            "version": "1.1", "repository": "https://github.com/example/memory",
            "commit": "0123456789abcdef0123456789abcdef01234567", "licence": "Apache-2.0",
            "organisation": "The Lab",
        }
    ]  # fmt: skip
    assert "secret cores" not in client.get("/systems/palimpsest/").content.decode()


def test_addresses_of_endpoints_are_never_public(client: Client) -> None:
    published(documentation="see our site")
    for address in ("/systems/palimpsest/", "/api/v1/systems/palimpsest"):
        assert "memory.example.com" not in client.get(address).content.decode()


def test_a_text_that_is_no_web_address_is_no_link(client: Client) -> None:
    published(public_fields=["documentation"], documentation="javascript:alert(1)")
    assert 'href="javascript' not in client.get("/systems/palimpsest/").content.decode()


def test_a_system_without_a_published_run_is_nobodys_business(client: Client) -> None:
    scored_full(entry=make_entry(slug="shy"), publication="in_review")
    assert client.get("/systems/shy/").status_code == 404
    assert client.get("/api/v1/systems/shy").status_code == 404


def test_a_withdrawn_result_is_counted_and_not_shown(client: Client) -> None:
    run_id = published()
    run = Run.objects.get(public_id=run_id)
    publish_move(run.pk, "withdrawn", why=Why(actor=PLATFORM, sentence="Withdrawn."))
    services.settle(run.pk)
    found = client.get("/api/v1/systems/palimpsest").json()
    assert found["runs"] == []
    assert found["fulls"] == [{"track": "textual", "started": 1, "finished": 1, "withdrawn": 1}]
