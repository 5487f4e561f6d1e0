"""Where a check's status moves: taken by one driver, put back when that one stops or dies."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet

from aml.web import clock
from evaluations.models import Check

LEASE = timedelta(minutes=3)
LOOKED_AT = 3  # queued checks that one look tries to take: others may be faster


def take(*, token: str) -> Check | None:
    """One queued check, by conditional update; None if there is none, or others were faster."""
    now = clock.now()
    for check in Check.objects.filter(status=Check.Status.QUEUED).order_by("requested_at")[:LOOKED_AT]:
        mine = Check.objects.filter(pk=check.pk, status=Check.Status.QUEUED)
        if mine.update(status=Check.Status.RUNNING, claim_token=token, claim_expires_at=now + LEASE):
            return check
    return None


def held(*, token: str) -> QuerySet[Check]:
    """Checks that the driver with this token still runs."""
    return Check.objects.filter(status=Check.Status.RUNNING, claim_token=token)


def put_back(checks: QuerySet[Check]) -> int:
    return checks.update(status=Check.Status.QUEUED, claim_token="", claim_expires_at=None, done=0)
