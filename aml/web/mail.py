"""The mail back end of one's own machine: each mail on the console and as a file."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.console import EmailBackend as ConsoleBackend
from django.core.mail.backends.filebased import EmailBackend as FileBackend


class ConsoleAndFileBackend(BaseEmailBackend):
    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        messages = list(email_messages)
        FileBackend(fail_silently=self.fail_silently).send_messages(messages)
        return ConsoleBackend(fail_silently=self.fail_silently).send_messages(messages) or 0
