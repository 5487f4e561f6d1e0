"""Probes for whoever runs the processes."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db


def test_a_process_that_is_up_says_so(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response["X-Robots-Tag"] == "noindex"


def test_a_process_is_ready_with_database_and_migrations(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = ""
    assert client.get("/readyz").json() == {"ready": True, "database": "ok", "migrations": "ok"}


def test_a_process_without_its_database_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DatabaseError

    monkeypatch.setattr(connection, "cursor", broken)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "no answer")


def test_a_process_without_its_broker_is_not_ready(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/readyz")
    assert (response.status_code, response.json()["broker"]) == (503, "no answer")


def test_search_engines_are_kept_from_private_pages(client: Client) -> None:
    text = client.get("/robots.txt").content.decode()
    assert "Disallow: /evaluation/" in text
    assert "Disallow: /leaderboard" not in text
