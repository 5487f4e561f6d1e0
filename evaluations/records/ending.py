"""What has not been called when a run ends is skipped: every planned unit ends done, failed or skipped."""

from __future__ import annotations

from datetime import datetime

from evaluations import states
from evaluations.models import Run, Unit

RUN_ENDED = "RUN_ENDED"


def skip_rest(run: Run, *, now: datetime) -> int:
    """Skip what waits or is ready. Calls in flight still end as they end. The caller holds the run's lock."""
    rest = Unit.objects.filter(run=run, status__in=[states.UnitStatus.WAITING, states.UnitStatus.READY])
    return rest.update(
        status=states.UnitStatus.SKIPPED, code=run.code or RUN_ENDED, fault=run.fault, finished_at=now
    )
