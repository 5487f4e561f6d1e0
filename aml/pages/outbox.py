"""``/outbox/``: on one's own machine, the mails that would have been sent, so that codes in them can be read.

Only where mails stay here, and only for whoever sits at this machine.
"""

from __future__ import annotations

import email
import email.policy
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from aml.web import outbox
from aml.web.models import OutboxMessage

SHOWN = 30
#: How Django's file back end separates the mails of one file.
_BETWEEN = b"\n" + b"-" * 79 + b"\n"


@dataclass(frozen=True, slots=True)
class Mail:
    at: datetime
    to: str
    subject: str
    text: str
    waiting: bool = False


@never_cache
@require_safe
def outbox_page(request: HttpRequest) -> HttpResponse:
    if settings.PRODUCTION or settings.EMAIL_HOST or not _is_here(request):
        raise Http404
    return render(request, "pages/outbox.html", {"mails": newest_mails()})


def newest_mails() -> list[Mail]:
    """What waits to be sent and what was written to files, newest first."""
    mails = [*_waiting(), *_written(Path(settings.EMAIL_FILE_PATH))]
    return sorted(mails, key=lambda mail: mail.at, reverse=True)[:SHOWN]


def _is_here(request: HttpRequest) -> bool:
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _waiting() -> list[Mail]:
    pending = OutboxMessage.objects.exclude(status=OutboxMessage.Status.SENT).order_by("-pk")[:SHOWN]
    return [Mail(one.created_at, one.recipient, *outbox.render(one), waiting=True) for one in pending]


def _written(folder: Path) -> list[Mail]:
    if not folder.is_dir():
        return []
    files = sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime, reverse=True)[:SHOWN]
    return [mail for path in files for mail in _mails_in(path)]


def _mails_in(path: Path) -> list[Mail]:
    parts = [part.strip(b"\n") for part in path.read_bytes().split(_BETWEEN)]
    return [_mail(part) for part in parts if part.strip(b"-\n ")]


def _mail(data: bytes) -> Mail:
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    text = body.get_content() if body is not None else ""
    return Mail(_sent_at(message), str(message["To"] or ""), str(message["Subject"] or ""), text.strip())


def _sent_at(message: EmailMessage) -> datetime:
    try:
        return parsedate_to_datetime(str(message["Date"])).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
