"""What this app does when something happens below it."""

from __future__ import annotations


def connect() -> None:
    """Connect the receivers; called once when the app is ready."""
