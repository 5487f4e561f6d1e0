"""Mails: a row in the event's transaction, sent afterwards, once per event and recipient."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from smtplib import SMTPResponseException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation

from aml.web import clock
from aml.web.models import OutboxMessage, User

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 10
BATCH = 50


def enqueue(
    event: str, *, users: Iterable[User], template: str, mandatory: bool = False, **context: Any
) -> None:
    """Queue one mail of ``event`` to each user. Repeating the event queues nothing more.

    ``template`` names ``templates/mail/<template>.txt``, whose first line is the subject.
    """
    OutboxMessage.objects.bulk_create(
        [
            OutboxMessage(
                event=event, recipient=user.email, user=user, template=template, context=context,
                language=user.language, mandatory=mandatory,
            )
            for user in users
            if user.is_active
        ],
        ignore_conflicts=True,
    )  # fmt: skip


def send_pending() -> int:
    """Send what is due; each message in a transaction of its own, so that one failure stops no other."""
    sent = 0
    for pk in _due():
        sent += _send_one(pk)
    return sent


def _due() -> list[int]:
    due = OutboxMessage.objects.filter(status=OutboxMessage.Status.PENDING, next_attempt_at__lte=clock.now())
    return list(due.order_by("pk").values_list("pk", flat=True)[:BATCH])


def _send_one(pk: int) -> int:
    """Push the next attempt ahead first: a second sender, or one after a crash here, finds it not due."""
    now = clock.now()
    with transaction.atomic():
        message = OutboxMessage.objects.select_for_update().get(pk=pk)
        if message.status != OutboxMessage.Status.PENDING or message.next_attempt_at > now:
            return 0
        message.attempts += 1
        message.next_attempt_at = now + timedelta(minutes=min(2**message.attempts, 240))
        message.save(update_fields=["attempts", "next_attempt_at"])
    try:
        _deliver(message)
    except Exception as error:  # the server's refusal, or a template that doesn't fit: the others must go out
        log.warning("mail %s not sent: %s", message.pk, type(error).__name__)
        _note_failure(message, error)
        return 0
    OutboxMessage.objects.filter(pk=pk).update(
        status=OutboxMessage.Status.SENT, sent_at=clock.now(), error=""
    )
    return 1


def _note_failure(message: OutboxMessage, error: Exception) -> None:
    """The error's kind alone: its text may quote the mail, its recipient or the server's log-in."""
    if message.attempts >= MAX_ATTEMPTS:
        message.status = OutboxMessage.Status.FAILED
    message.error = type(error).__name__
    if isinstance(error, SMTPResponseException):
        message.error += f" {error.smtp_code}"
    message.save(update_fields=["status", "error"])


def _deliver(message: OutboxMessage) -> None:
    subject, body = render(message)
    EmailMultiAlternatives(subject, body, settings.DEFAULT_FROM_EMAIL, [message.recipient]).send()


def render(message: OutboxMessage) -> tuple[str, str]:
    """Subject (the template's first line) and body, in the recipient's language."""
    with translation.override(message.language):
        text = render_to_string(
            f"mail/{message.template}.txt", {**message.context, "site_url": settings.SITE_URL}
        )
    subject, _, body = text.strip().partition("\n")
    return f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject.strip()}", body.strip() + "\n"
