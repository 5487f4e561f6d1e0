"""A finished Full gets a case: once, with its findings, in one transaction with its move into review.

Locks are taken in this order everywhere in this app: the run's row, then the case's.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from aml.web import audit, clock
from aml.web.guarding import guarded
from evaluations import states
from evaluations.models import Run
from evaluations.records.transitions import PLATFORM, Why, lock, publish_move
from review import findings, records
from review.builder.evidence import evidence_of
from review.models import Case, Finding

IN_REVIEW = gettext_noop(
    "In review: two reviewers look at materials, version, results and compliance. Keep the service and its memories "
    "until this page says that you may stop."
)


def open_case(run_id: int) -> Case | None:
    """The run's case, opened if it has none; None where the run is nothing to review.

    The findings are computed before any lock is taken.
    """
    run = _reviewable(run_id)
    if run is None:
        return None
    found = findings.findings_of(evidence_of(run))
    with transaction.atomic():
        run = lock(run_id)
        known = Case.objects.filter(run=run).first()
        if known is not None:
            return known
        publish_move(run_id, states.Publication.IN_REVIEW, why=Why(actor=PLATFORM, sentence=IN_REVIEW))
        if Run.objects.values_list("publication", flat=True).get(pk=run_id) != states.Publication.IN_REVIEW:
            return None
        case = Case.objects.create(run=run, opened_at=clock.now())
        write_findings(case, found)
        audit.record("review.opened", subject=f"run:{run.public_id}", case=case.public_id)
    return case


def open_missing_cases() -> int:
    """Open what a lost signal left without a case; returns how many. One run's trouble stops no other."""
    waiting = _to_review().filter(case__isnull=True).order_by("finished_at", "pk")
    return sum(guarded(open_case, pk) for pk in waiting.values_list("pk", flat=True))


def refresh_findings(case: Case) -> list[Finding]:
    """Compute the findings again, such as after an upgrade."""
    run = Run.objects.select_related("pack", "contract", "cycle", "registration", "version").get(
        pk=case.run_id
    )
    found = findings.findings_of(evidence_of(run))
    with transaction.atomic():
        write_findings(case, found)
    return list(case.findings.all())


def write_findings(case: Case, found: Iterable[findings.Finding]) -> None:
    """One row a kind; a kind that is there gets its new values."""
    now = clock.now()
    rows = [
        Finding(
            case=case, kind=one.kind, severity=str(one.severity), sentence=one.sentence, data=dict(one.data),
            found_at=now,
        )
        for one in found
    ]  # fmt: skip
    Finding.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["case", "kind"],
        update_fields=["severity", "sentence", "data", "found_at"],
    )


def close_case(run_id: int) -> bool:
    """Close the undecided case of a run that its participant took back."""
    withdrawn = Run.objects.filter(pk=run_id, publication=states.Publication.WITHDRAWN)
    if not withdrawn.exists():
        return False
    with transaction.atomic():
        run = lock(run_id)
        return records.close_undecided(run)


def _to_review() -> QuerySet[Run]:
    return Run.objects.fulls().filter(
        status__in=states.SCORED_ENDS,
        publication__in=[states.Publication.PRIVATE, states.Publication.IN_REVIEW],
    )


def _reviewable(run_id: int) -> Run | None:
    runs = _to_review().select_related("pack", "contract", "cycle", "registration", "version")
    return runs.filter(pk=run_id).first()
