"""The participant may stop the service: said once, on the run and in its timeline."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_noop

from aml.web import clock
from evaluations.records.transitions import Why, add_event, lock

RELEASED = gettext_noop("Scoring and review are over: you may stop the service and delete its memories.")


def release_service(run_id: int, *, why: Why) -> bool:
    """Set ``service_released_at`` and note it; False if that was done before."""
    with transaction.atomic():
        run = lock(run_id)
        if run.service_released_at is not None:
            return False
        now = run.service_released_at = clock.now()
        run.save(update_fields=["service_released_at"])
        add_event(run, kind="released", why=why, at=now)
    return True
