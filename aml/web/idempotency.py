"""The same creating request twice gets the first answer; another body under the same key is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from aml.lib.canonical import canonical_hash
from aml.web import clock
from aml.web.errors import FieldRefusal
from aml.web.models import IdempotencyRecord

KEPT = timedelta(hours=24)
MAX_KEY = 255


def once(
    *, scope: str, key: str, request: Any, act: Callable[[], tuple[int, dict[str, Any]]]
) -> tuple[int, dict[str, Any], bool]:
    """Run ``act`` once per scope and key, in one transaction; returns status, body, and whether it is a repeat.

    A second request at the same time waits on the unique row of the first and then gets its answer.
    If ``act`` refuses, the row goes with the transaction, so that the caller may try again.
    """
    if len(key) > MAX_KEY or not key.isprintable():
        raise FieldRefusal("Idempotency-Key", _("Expected at most 255 printable characters."))
    digest = canonical_hash(request)
    with transaction.atomic():
        record, created = _claim(scope=scope, key=key, digest=digest)
        if not created:
            return _repeat(record, digest)
        status, body = act()
        record.status_code, record.body = status, body
        record.save(update_fields=["status_code", "body"])
    return status, body, False


def forget_old(*, limit: int = 1000) -> int:
    """Delete up to ``limit`` answers that are kept no longer; returns how many. By index, so it is cheap."""
    old = IdempotencyRecord.objects.filter(created_at__lt=clock.now() - KEPT).order_by("created_at")
    keys = list(old.values_list("pk", flat=True)[:limit])
    return IdempotencyRecord.objects.filter(pk__in=keys).delete()[0]


def _claim(*, scope: str, key: str, digest: str) -> tuple[IdempotencyRecord, bool]:
    IdempotencyRecord.objects.filter(scope=scope, key=key, created_at__lt=clock.now() - KEPT).delete()
    return IdempotencyRecord.objects.select_for_update().get_or_create(
        scope=scope, key=key, defaults={"request_hash": digest, "created_at": clock.now()}
    )


def _repeat(record: IdempotencyRecord, digest: str) -> tuple[int, dict[str, Any], bool]:
    if record.request_hash != digest:
        raise FieldRefusal(
            "Idempotency-Key",
            _("This key was used with another body."),
            hint=_("Send a new key with a new request."),
            code="idempotency_mismatch",
            status=422,
        )
    return record.status_code or 200, record.body or {}, True
