"""Speed and cost of a run, measured: what stands in the board's columns beside the score."""

from __future__ import annotations

from typing import Any

import numpy as np
from django.db.models import Count, Max, Min, Q

from evaluations.models import Attempt, Result, Run
from evaluations.models.ledger import SERVICE_KINDS, KindChoice


def measure(run: Run) -> dict[str, Any]:
    """Latencies in seconds, tokens by the platform's vocabulary, error rate as a share of calls."""
    return {
        "add": _latency(run, KindChoice.ADD),
        "search": _latency(run, KindChoice.SEARCH),
        "ingest_seconds": _ingest_seconds(run),
        **_calls(run),
        **_tokens(run),
    }


def _latency(run: Run, kind: str) -> dict[str, float | int | None]:
    values = list(
        Attempt.objects.filter(run=run, kind=kind, ok=True, latency__isnull=False).values_list(
            "latency", flat=True
        )
    )
    if not values:
        return {"n": 0, "p50": None, "p95": None, "p99": None}
    p50, p95, p99 = np.percentile(np.array(values), [50, 95, 99])
    return {
        "n": len(values),
        "p50": round(float(p50), 6),
        "p95": round(float(p95), 6),
        "p99": round(float(p99), 6),
    }


def _ingest_seconds(run: Run) -> float | None:
    span = Attempt.objects.filter(run=run, kind=KindChoice.ADD, ok=True).aggregate(
        first=Min("started_at"), last=Max("finished_at")
    )
    if span["first"] is None:
        return None
    elapsed: float = (span["last"] - span["first"]).total_seconds()
    return round(elapsed, 3)


def _calls(run: Run) -> dict[str, Any]:
    calls = Attempt.objects.filter(run=run, kind__in=SERVICE_KINDS).aggregate(
        total=Count("pk"), failed=Count("pk", filter=~Q(code=""))
    )
    total, failed = calls["total"], calls["failed"]
    return {"calls": total, "failed_calls": failed, "error_rate": round(failed / total, 6) if total else None}


def _tokens(run: Run) -> dict[str, Any]:
    """Summed here and not in SQL: the two databases disagree on sums over JSON."""
    sums = dict.fromkeys(("memory_tokens", "items_cut", "prompt_tokens", "completion_tokens"), 0)
    count = 0
    for data in (
        Result.objects.filter(run=run, kind=KindChoice.ANSWER).values_list("data", flat=True).iterator()
    ):
        count += 1
        for name in sums:
            sums[name] += data.get(name, 0)
    return {
        "memory_tokens_per_question": round(sums["memory_tokens"] / count, 1) if count else None,
        "items_cut": sums["items_cut"],
        "answer_prompt_tokens": sums["prompt_tokens"],
        "answer_completion_tokens": sums["completion_tokens"],
    }
