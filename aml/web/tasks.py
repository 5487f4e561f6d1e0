"""Periodic tasks of the platform itself. Each is a shell round one function."""

from __future__ import annotations

from aml.web import audit, outbox
from aml.web.background import task


@task(name="web.send_outbox")
def send_outbox() -> None:
    outbox.send_pending()


@task(name="web.seal_audit")
def seal_audit() -> None:
    audit.seal()
