"""Mails are sent once, and one that can't be sent stops no other."""

from __future__ import annotations

from smtplib import SMTPAuthenticationError
from unittest.mock import patch

import pytest
from django.core.mail import EmailMultiAlternatives

from aml.web import outbox
from aml.web.models import OutboxMessage
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def queue(event: str, *, template: str = "run_published") -> OutboxMessage:
    outbox.enqueue(event, users=[make_user()], template=template, system="Palimpsest", label="full 1")
    return OutboxMessage.objects.get(event=event)


def test_a_template_that_fails_keeps_no_other_mail_back(mailoutbox: list[EmailMultiAlternatives]) -> None:
    broken, fine = queue("broken", template="no_such_template"), queue("fine")
    assert outbox.send_pending() == 1
    assert [mail.to for mail in mailoutbox] == [[fine.recipient]]
    broken.refresh_from_db()
    assert (broken.status, broken.attempts, broken.error) == ("pending", 1, "TemplateDoesNotExist")


def test_a_mail_that_fails_too_often_is_given_up() -> None:
    message = queue("broken", template="no_such_template")
    OutboxMessage.objects.update(attempts=outbox.MAX_ATTEMPTS - 1)
    assert outbox.send_pending() == 0
    message.refresh_from_db()
    assert message.status == OutboxMessage.Status.FAILED


def test_the_error_that_is_kept_quotes_nothing_of_the_server() -> None:
    message = queue("refused")
    with patch.object(EmailMultiAlternatives, "send", side_effect=SMTPAuthenticationError(535, b"hunter2")):
        outbox.send_pending()
    message.refresh_from_db()
    assert message.error == "SMTPAuthenticationError 535"
