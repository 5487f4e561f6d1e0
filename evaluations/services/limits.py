"""The memory contract's numbers as a cycle sets them."""

from __future__ import annotations

from evaluations.engine.contract import Limits
from registration.models import Cycle


def cycle_limits(cycle: Cycle | None) -> Limits:
    """The contract's own where there is no cycle; when an outage ends a run is a rule of the cycle."""
    if cycle is None:
        return Limits()
    return Limits.model_validate({**cycle.limits, "outage_end": cycle.outage_end_hours * 3600.0})
