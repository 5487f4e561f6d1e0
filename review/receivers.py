"""What this app does when something happens below it. What breaks here is made good after reconcile."""

from __future__ import annotations

from typing import Any

from aml.web.guarding import guarded
from evaluations import signals
from review import builder


def connect() -> None:
    """Connect the receivers; called once when the app is ready."""
    signals.run_finished.connect(_run_finished, dispatch_uid="review.finished")
    signals.run_published_state.connect(_publication_changed, dispatch_uid="review.publication")
    signals.reconciled.connect(_reconciled, dispatch_uid="review.reconciled")


def _run_finished(*, run_id: int, **_: Any) -> None:
    """The run's end is committed by now, and the driver must go on with the other runs."""
    guarded(builder.open_case, run_id)


def _publication_changed(*, run_id: int, **_: Any) -> None:
    guarded(builder.close_case, run_id)


def _reconciled(**_: Any) -> None:
    builder.open_missing_cases()
