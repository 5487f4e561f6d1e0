"""Mails that stay on one's own machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.mail import EmailMessage, get_connection
from django.test import Client
from pytest_django import Settings

from aml.web.outbox import enqueue
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def _files(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_FILE_PATH = tmp_path


def send(text: str, *, subject: str = "Your code") -> None:
    back_end = get_connection("django.core.mail.backends.filebased.EmailBackend")
    EmailMessage(subject, text, "aml@localhost", ["ann@example.org"], connection=back_end).send()


@pytest.mark.usefixtures("_files")
def test_a_mail_that_was_sent_directly_can_be_read_with_its_code(client: Client) -> None:
    send("Your code is 7F3K9Q.", subject="[AML] 记忆: confirm")
    text = client.get("/outbox/").content.decode()
    assert "7F3K9Q" in text
    assert "记忆: confirm" in text
    assert "ann@example.org" in text


@pytest.mark.usefixtures("_files")
def test_several_mails_of_one_file_are_told_apart(client: Client) -> None:
    back_end = get_connection("django.core.mail.backends.filebased.EmailBackend")
    mails = [EmailMessage(f"Mail {n}", f"Text {n}", "a@b.c", ["ann@example.org"]) for n in range(3)]
    back_end.send_messages(mails)
    shown = client.get("/outbox/").context["mails"]
    assert sorted(mail.subject for mail in shown) == ["Mail 0", "Mail 1", "Mail 2"]
    assert sorted(mail.text for mail in shown) == ["Text 0", "Text 1", "Text 2"]


@pytest.mark.usefixtures("_files")
def test_a_mail_that_waits_is_shown_as_it_will_be_sent(client: Client) -> None:
    enqueue(
        "run:1:published", users=[make_user(email="bob@example.org")], template="run_published",
        system="Palimpsest", slug="palimpsest", label="full 1", track="textual", division="open-source",
        on_board=True,
    )  # fmt: skip
    (mail,) = client.get("/outbox/").context["mails"]
    assert (mail.to, mail.waiting) == ("bob@example.org", True)
    assert mail.subject == "[AML] Palimpsest: the result of full 1 is published"


@pytest.mark.usefixtures("_files")
def test_markup_in_a_mail_is_text(client: Client) -> None:
    send("<script>alert(1)</script>")
    assert b"<script>alert" not in client.get("/outbox/").content


def test_nobody_else_sees_the_outbox(client: Client) -> None:
    assert client.get("/outbox/", REMOTE_ADDR="203.0.113.9").status_code == 404


@pytest.mark.parametrize(("name", "value"), [("PRODUCTION", True), ("EMAIL_HOST", "smtp.example.org")])
def test_where_mails_leave_the_machine_there_is_no_outbox(
    client: Client, settings: Settings, name: str, value: object
) -> None:
    setattr(settings, name, value)
    assert client.get("/outbox/").status_code == 404
