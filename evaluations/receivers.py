"""What evaluations object to: a version that a run still needs can't be withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from aml.web.errors import Refusal
from evaluations import states
from evaluations.models import Run
from registration.models import Version
from registration.signals import withdrawing


def connect() -> None:
    withdrawing.connect(refuse_needed, dispatch_uid="evaluations.refuse_needed")


def refuse_needed(sender: type, versions: Sequence[Version], **_kwargs: Any) -> None:
    """From acceptance until the run page says *you may stop* (product.md, rule 6)."""
    needed = Q(status__in=states.ACTIVE) | Q(kind=states.RunKind.FULL, service_released_at__isnull=True)
    run = Run.objects.filter(needed, version__in=versions).order_by("accepted_at").first()
    if run is None:
        return
    raise Refusal(
        "active_run",
        _("“%(run)s” still needs this version.") % {"run": run.label},
        hint=_("Cancel the run first, or wait until its page says that you may stop the service."),
        run=run.public_id,
    )
