"""What happened on the wire. A Smoke shows whole exchanges; a Full counts, codes and times, never content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from aml.web import bodies
from aml.web.errors import Refusal
from evaluations.models import Attempt, Run
from evaluations.models.ledger import SERVICE_KINDS
from evaluations.services.progress import advice, title

PAGE = 25


@dataclass(frozen=True, slots=True)
class Trace:
    """One attempt; ``exchange`` is None of a Full, of a model's call, and where the body is gone."""

    number: int
    operation: str
    at: datetime
    ok: bool
    code: str
    title: str
    advice: str
    fault: str
    sentence: str
    pointer: str
    status: int | None
    latency: float | None
    timing: dict[str, float | None]
    request_size: int
    response_size: int
    exchange: dict[str, Any] | None = None


def service_attempts(
    run: Run, *, code: str = "", operation: str = "", failed_first: bool = False
) -> QuerySet[Attempt]:
    """Attempts at the participant's service that have ended."""
    attempts = Attempt.objects.filter(run=run, kind__in=SERVICE_KINDS, finished_at__isnull=False)
    if code:
        attempts = attempts.filter(code=code)
    if operation in SERVICE_KINDS:
        attempts = attempts.filter(kind=operation)
    return attempts.order_by(*(["ok"] if failed_first else []), "pk")


def attempts_after(run: Run, after: int, *, limit: int, code: str = "", operation: str = "") -> list[Attempt]:
    """The next ``limit`` service attempts by their keys."""
    rows = service_attempts(run, code=code).filter(pk__gt=after)
    kinds = [operation] if operation else sorted(SERVICE_KINDS)
    # Each kind apart comes in order from its index; together, all of a run's attempts would be sorted.
    found = [attempt for kind in kinds for attempt in rows.filter(kind=kind)[:limit]]
    return sorted(found, key=lambda attempt: attempt.pk)[:limit]


def codes_met(run: Run) -> list[tuple[str, int]]:
    """Codes of service attempts with their counts, the most frequent first."""
    rows = service_attempts(run).exclude(code="").values("code").annotate(number=Count("pk"))
    return [(row["code"], row["number"]) for row in rows.order_by("-number", "code")]


def failing_exchanges(run: Run, *, limit: int = PAGE) -> list[Trace]:
    """The first attempts of a Smoke that failed, each with its exchange."""
    failed = service_attempts(run).filter(ok=False).exclude(code="")[:limit]
    return [trace(attempt, content=run.is_smoke) for attempt in failed]


def refuse_content_of_full(run: Run) -> None:
    if not run.is_smoke:
        raise Refusal(
            "no_content",
            _("Of a Full nothing is shown beyond counts, codes and times: its questions are private."),
            hint=_("Start a Smoke to see whole exchanges."),
            status=404,
        )


def trace(attempt: Attempt, *, content: bool) -> Trace:
    return Trace(
        number=attempt.pk,
        operation=attempt.kind,
        at=attempt.started_at,
        ok=attempt.ok,
        code=attempt.code,
        title=title(attempt.code) if attempt.code else "",
        advice=advice(attempt.code) if attempt.code else "",
        fault=attempt.fault,
        # Sentences of a Full may quote the participant's reply, which may quote the question.
        sentence=attempt.sentence if content else "",
        pointer=attempt.pointer,
        status=attempt.http_status,
        latency=attempt.latency,
        timing=attempt.timing,
        request_size=attempt.request_size,
        response_size=attempt.response_size,
        exchange=_exchange(attempt) if content else None,
    )


def _exchange(attempt: Attempt) -> dict[str, Any] | None:
    if not attempt.exchange:
        return None
    try:
        found: dict[str, Any] = orjson.loads(bodies.get(attempt.exchange))
    except bodies.MissingBody:
        return None
    return found
