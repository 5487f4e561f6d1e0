"""What holds for every request, whatever the view."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/?cycle=%00", "/leaderboard/textual/open-source/?cycle=a%00", "/a%00b/"])
def test_an_address_with_a_nul_is_refused(client: Client, path: str) -> None:
    assert client.get(path).status_code == 400


def test_a_signed_in_persons_page_is_kept_by_nobody(client: Client) -> None:
    client.force_login(make_user())
    assert client.get("/rules/").headers["Cache-Control"] == "private, no-cache"


def test_a_visitors_page_may_be_kept(client: Client) -> None:
    assert "private" not in client.get("/rules/").headers.get("Cache-Control", "")


def test_the_admin_sends_to_the_log_in_that_counts_failures(client: Client) -> None:
    reply = client.get("/admin/login/")
    assert reply.status_code == 302
    assert reply.headers["Location"].startswith("/accounts/login/")
