"""The queue's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet

from aml.web import formats
from aml.web.models import User
from registration.models import Registration
from review.models import Case, Decision
from review.serializers.severities import summary


def filtered(chosen: Mapping[str, str], *, reviewer: User) -> QuerySet[Case]:
    """Cases of a status, track and division; undecided ones wait longest first, decided ones come newest first.

    Of cycles that the reviewer takes part in, nothing: there is a conflict of interest.
    """
    own = Registration.objects.filter(Q(participant__members__user=reviewer) | Q(memberships__user=reviewer))
    cases = Case.objects.for_queue().exclude(run__cycle__in=own.values("cycle"))
    if track := chosen.get("track"):
        cases = cases.filter(run__track=track)
    if division := chosen.get("division"):
        cases = cases.filter(run__registration__division=division)
    return _by_status(cases, chosen.get("status", ""))


def _by_status(cases: QuerySet[Case], status: str) -> QuerySet[Case]:
    if status == "all":
        return cases.order_by("-opened_at", "-pk")
    if status == "closed":
        return cases.exclude(status__in=Case.UNDECIDED).order_by("-closed_at", "-pk")
    wanted = (status,) if status in Case.UNDECIDED else Case.UNDECIDED
    return cases.filter(status__in=wanted).order_by("opened_at", "pk")


def rows(cases: Iterable[Case], *, reviewer: User, now: datetime) -> list[dict[str, Any]]:
    found = list(cases)
    decided = set(Decision.objects.filter(reviewer=reviewer, case__in=found).values_list("case", "round"))
    approvals = Counter(
        Decision.objects.filter(case__in=found, round=F("case__round"), verdict=Decision.Verdict.APPROVE)
        .order_by()
        .values_list("case", flat=True)
    )
    return [
        {
            "case": case,
            "run": case.run,
            "system": case.run.version.entry.name,
            "age": _age(case, now=now),
            "approvals": formats.done_of_total(approvals[case.pk], Case.APPROVALS),
            "findings": summary(case),
            "decided": (case.pk, case.round) in decided,
        }
        for case in found
    ]


def _age(case: Case, *, now: datetime) -> timedelta:
    return (case.closed_at or now) - case.opened_at
