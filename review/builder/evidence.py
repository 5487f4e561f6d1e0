"""Gathers what the findings read. Reading only; a finished run's rows don't change any more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, Q, Sum

from benchmarks.scorers.abstain import declines
from evaluations import states
from evaluations.engine.aggregate import score_fields
from evaluations.models import Attempt, Check, Result, Run, RunScore, Unit
from evaluations.models.ledger import SERVICE_KINDS, KindChoice
from evaluations.runner.scores import aggregate_run, ask_scores
from evaluations.services import statements
from review.findings import (
    COMMERCIAL_MATERIALS,
    OPEN_SOURCE_MATERIALS,
    Calls,
    Counts,
    Eligibility,
    Evidence,
    Figures,
    Latencies,
    Replies,
)

#: The scorer of questions that should be declined.
DECLINING = "abstain"


def evidence_of(run: Run) -> Evidence:
    score = RunScore.objects.get(run=run)
    return Evidence(
        counts=_counts(run, score),
        zeros_succeeded_up_to=run.rule("zero_share_succeeded"),
        zeros_partial_up_to=run.rule("zero_share_partial"),
        calls=_calls(run),
        replies=_replies(run),
        latencies=_latencies(run),
        eligibility=_eligibility(run),
        stored=Figures(
            overall=score.overall, low=score.ci_low, high=score.ci_high, capabilities=score.capabilities
        ),
        recomputed=recompute(run),
    )


def recompute(run: Run) -> Figures:
    """The figures once more, from the ledger's results."""
    fields = score_fields(aggregate_run(run, ask_scores(run)))
    return Figures(
        overall=fields["overall"],
        low=fields["ci_low"],
        high=fields["ci_high"],
        capabilities=fields["capabilities"],
    )


def _counts(run: Run, score: RunScore) -> Counts:
    searches = Unit.objects.filter(run=run, kind=KindChoice.SEARCH).count()
    open_units = Unit.objects.filter(run=run).exclude(status__in=states.UNIT_FINAL).count()
    return Counts(
        planned=run.pack.samples.aggregate(asks=Sum("asks"))["asks"] or 0,
        asked=searches,
        scored=score.scored,
        unscored=score.unscored,
        zero_by_failure=score.zero_by_failure,
        open_units=open_units,
    )


def _calls(run: Run) -> Calls:
    calls = Attempt.objects.filter(run=run, kind__in=SERVICE_KINDS).aggregate(
        total=Count("pk"), failed=Count("pk", filter=~Q(code=""))
    )
    return Calls(total=calls["total"], failed=calls["failed"], repeated=run.repeated_calls)


def _replies(run: Run) -> Replies:
    searches = Result.objects.filter(run=run, kind=KindChoice.SEARCH).values_list("data", flat=True)
    found = [data.get("items", 0) for data in searches.iterator()]
    answers = _answerable_answers(run)
    return Replies(
        searches=len(found),
        empty=sum(not items for items in found),
        answers=len(answers),
        declined=sum(declines(answer) for answer in answers),
    )


def _answerable_answers(run: Run) -> list[str]:
    """Answers to questions that have one: declining the others is right."""
    declining = set(run.pack.questions.filter(scorer=DECLINING).values_list("key", flat=True))
    rows = Result.objects.filter(run=run, kind=KindChoice.ANSWER).values_list("unit__question", "data")
    return [str(data.get("answer", "")) for question, data in rows.iterator() if question not in declining]


def _latencies(run: Run) -> Latencies:
    rows = Attempt.objects.filter(run=run, kind=KindChoice.SEARCH, ok=True, latency__isnull=False)
    values = np.array(list(rows.order_by("started_at", "pk").values_list("latency", flat=True)), dtype=float)
    if len(values) < 3:
        return Latencies(n=len(values))
    third = len(values) // 3
    return Latencies(
        n=len(values),
        p50=float(np.median(values)),
        p95=float(np.percentile(values, 95)),
        early=float(np.median(values[:third])),
        late=float(np.median(values[-third:])),
    )


def _eligibility(run: Run) -> Eligibility:
    version = run.version
    accepted: Mapping[str, Any] = run.spec.get("statements", {}).get("accepted", {})
    return Eligibility(
        division=run.registration.division,
        materials={name: getattr(version, name) for name in (*OPEN_SOURCE_MATERIALS, *COMMERCIAL_MATERIALS)},
        statements_missing=statements.missing(accepted),
        check_passed=check_before(run) is not None,
        smoke_passed=smoke_before(run) is not None,
        endpoint_changed=run.spec.get("endpoint") != version.endpoint(),
    )


def check_before(run: Run) -> Check | None:
    """The newest check of the version that had passed when the run was accepted."""
    checks = Check.objects.passed().filter(version=run.version_id, track=run.track)
    return checks.filter(finished_at__lte=run.accepted_at).order_by("-finished_at").first()


def smoke_before(run: Run) -> Run | None:
    """The newest Smoke of the version that had passed when the run was accepted."""
    smokes = Run.objects.smokes().filter(
        version=run.version_id, track=run.track, status=states.RunStatus.SUCCEEDED
    )
    before: datetime = run.accepted_at
    return smokes.filter(finished_at__lte=before).order_by("-finished_at").first()
