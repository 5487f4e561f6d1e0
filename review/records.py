"""Where a case's status moves without a reviewer's word."""

from __future__ import annotations

from aml.web import clock
from evaluations.models import Run
from review.models import Case


def close_undecided(run: Run) -> bool:
    """Close the run's case if nobody has decided. The caller holds the run's lock."""
    undecided = Case.objects.filter(run=run, status__in=Case.UNDECIDED)
    return bool(undecided.update(status=Case.Status.CLOSED, closed_at=clock.now()))
