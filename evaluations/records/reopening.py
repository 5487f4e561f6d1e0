"""Model units that the provider failed are tried again after a while: no score is lost to a provider."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from aml.web import clock
from evaluations import states
from evaluations.models import Unit
from evaluations.models.ledger import MODEL_KINDS, KindChoice
from evaluations.records.transitions import lock

AGAIN_AFTER = timedelta(minutes=10)


def reopen_unsettled(run_id: int) -> bool:
    """Whether a unit of the run was opened again."""
    with transaction.atomic():
        run = lock(run_id)
        now = clock.now()
        failed = Unit.objects.filter(
            run=run, kind__in=MODEL_KINDS, status=states.UnitStatus.FAILED, finished_at__lte=now - AGAIN_AFTER
        )
        asks = list(failed.values_list("ask", flat=True))
        if run.is_final or not asks:
            return False
        skipped = Unit.objects.filter(
            run=run, ask__in=asks, kind=KindChoice.JUDGE, status=states.UnitStatus.SKIPPED
        )
        skipped.update(status=states.UnitStatus.WAITING, code="", fault="", finished_at=None)
        failed.update(
            status=states.UnitStatus.READY,
            code="",
            fault="",
            finished_at=None,
            next_attempt_at=now,
            history={},
        )
    return True
