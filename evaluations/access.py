"""Runs and checks of the person's own participants; a foreign id is a 404."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from aml.web.models import User
from evaluations.models import Check, Run

_RUN = (
    "registration__participant", "cycle", "contract", "pack", "version__entry", "started_by",
)  # fmt: skip


def run_or_404(user: User, public_id: str) -> Run:
    return get_object_or_404(Run.objects.visible_to(user).select_related(*_RUN), public_id=public_id)


def check_or_404(user: User, public_id: str) -> Check:
    checks = Check.objects.visible_to(user).select_related(
        "registration__participant", "registration__cycle", "version__entry__registration"
    )
    return get_object_or_404(checks, public_id=public_id)
