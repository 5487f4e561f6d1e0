"""Chores of the platform itself, after each pass of reconcile."""

from __future__ import annotations

from typing import Any

from aml.web import idempotency
from evaluations import signals


def connect() -> None:
    """Connect the receivers; called once when the app is ready."""
    signals.reconciled.connect(_reconciled, dispatch_uid="pages.reconciled")


def _reconciled(**_: Any) -> None:
    idempotency.forget_old()
