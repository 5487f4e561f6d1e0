"""What this app does when something happens below it."""

from __future__ import annotations

import logging
from typing import Any

from evaluations import signals
from leaderboard import services

log = logging.getLogger(__name__)


def connect() -> None:
    """Connect the receivers; called once when the app is ready."""
    signals.run_published_state.connect(_publication_changed, dispatch_uid="leaderboard.publication")
    signals.baselines_measured.connect(_baselines_measured, dispatch_uid="leaderboard.baselines")
    signals.reconciled.connect(_reconciled, dispatch_uid="leaderboard.reconciled")


def _publication_changed(*, run_id: int, **_: Any) -> None:
    """A reviewer's decision is committed by now: what breaks here is made good by ``publish_pending``."""
    try:
        services.settle(run_id)
    except Exception:  # the decision stands, and the reviewer's page must not fail for the board's sake
        log.exception("the board row of run %s could not be settled", run_id)


def _baselines_measured(*, contract_id: int, **_: Any) -> None:
    services.refresh_contract(contract_id, reason="baselines measured")


def _reconciled(**_: Any) -> None:
    services.publish_pending()
