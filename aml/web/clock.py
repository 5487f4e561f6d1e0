"""One clock for every decision: the database's time plus a test offset, read inside the transaction."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from aml.web.models import PlatformState


def now() -> datetime:
    """Aware UTC time. On SQLite the database's clock is this machine's."""
    return _database_time() + _offset()


def _database_time() -> datetime:
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        stamp: datetime = cursor.fetchone()[0]
    return stamp


def _offset() -> timedelta:
    if settings.PRODUCTION:
        return timedelta(0)
    seconds = PlatformState.objects.filter(pk=1).values_list("clock_offset_seconds", flat=True).first()
    return timedelta(seconds=seconds or 0)
