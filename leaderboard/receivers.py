"""What this app does when something happens below it."""

from __future__ import annotations

from typing import Any

from aml.web.guarding import guarded
from evaluations import signals
from leaderboard import services


def connect() -> None:
    """Connect the receivers; called once when the app is ready."""
    signals.run_published_state.connect(_publication_changed, dispatch_uid="leaderboard.publication")
    signals.baselines_measured.connect(_baselines_measured, dispatch_uid="leaderboard.baselines")
    signals.reconciled.connect(_reconciled, dispatch_uid="leaderboard.reconciled")


def _publication_changed(*, run_id: int, **_: Any) -> None:
    """The decision is committed, and the reviewer's page must not fail for the board's sake.

    What breaks here is made good by ``publish_pending``.
    """
    guarded(services.settle, run_id)


def _baselines_measured(*, contract_id: int, **_: Any) -> None:
    services.refresh_contract(contract_id, reason="baselines measured")


def _reconciled(**_: Any) -> None:
    services.publish_pending()
