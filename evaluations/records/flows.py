"""A run's flow states in its row: the service's and the model providers' share one reducer."""

from __future__ import annotations

from django.conf import settings

from evaluations.engine import flow
from evaluations.engine.contract import Limits
from evaluations.engine.flow import FlowState
from evaluations.engine.types import Operation
from evaluations.models import Run
from evaluations.models.ledger import KindChoice

#: Models have two windows and one breaker as the service has; only the names of the calls differ.
OPERATION: dict[str, Operation] = {
    KindChoice.ADD: Operation.ADD,
    KindChoice.SEARCH: Operation.SEARCH,
    KindChoice.ANSWER: Operation.ADD,
    KindChoice.JUDGE: Operation.SEARCH,
}


def limits_of(run: Run) -> Limits:
    """The contract's limits as they were when the run was accepted."""
    return Limits.model_validate(run.spec.get("limits", {}))


def service_flow(run: Run, *, limits: Limits) -> FlowState:
    if run.flow:
        return FlowState.from_json(run.flow)
    concurrency = run.spec["concurrency"]
    return flow.start(add=concurrency["add"], search=concurrency["search"], limits=limits)


def model_flow(run: Run, *, limits: Limits) -> FlowState:
    if run.model_flow:
        return FlowState.from_json(run.model_flow)
    return flow.start(add=settings.MODEL_BUDGET, search=settings.MODEL_BUDGET, limits=limits)
