"""What happens next with a run, and who must do what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from aml.web.states import PAUSE_REASONS
from evaluations import states
from evaluations.models import Run
from evaluations.records.flows import limits_of, service_flow

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Outlook:
    """``level`` as of a notice; ``at`` is a deadline with its ``label``, where there is one."""

    level: str
    title: StrOrPromise
    text: StrOrPromise
    label: StrOrPromise = ""
    at: datetime | None = None


def outlook(run: Run) -> Outlook:
    if run.status == states.RunStatus.PAUSED:
        return _paused(run)
    if not run.is_final:
        return _under_way(run)
    if run.status in states.SCORED_ENDS:
        return _scored(run)
    return _ended(run)


def _under_way(run: Run) -> Outlook:
    if run.first_add_at is None:
        if run.is_smoke:
            return Outlook("info", _("Waiting for its start"), _("It begins within a minute, as a rule."))
        return Outlook(
            "info",
            _("Waiting for its start"),
            _(
                "Keep the service running. The platform starts the run before the deadline; a miss is "
                "its fault."
            ),
            _("Started at the latest"),
            run.start_deadline_at,
        )
    return Outlook(
        "info",
        _("Under way"),
        _(
            "Keep the service and its memories as they are. A short outage does no harm: calls are "
            "tried again."
        ),
    )


def _paused(run: Run) -> Outlook:
    text = PAUSE_REASONS.get(run.pause_reason, "")
    if run.pause_reason != states.PauseReason.ENDPOINT:
        return Outlook("warning", _("Paused: nothing to do for you"), text)
    return Outlook(
        "warning",
        _("Paused: bring your service back"),
        text,
        _("Without a success the run ends"),
        _outage_ends(run),
    )


def _outage_ends(run: Run) -> datetime | None:
    since = service_flow(run, limits=limits_of(run)).failing_since
    if since is None or run.paused_at is None:
        return None
    began = datetime.fromtimestamp(since, tz=run.paused_at.tzinfo)
    return began + timedelta(hours=run.rule("outage_end_hours"))


def _scored(run: Run) -> Outlook:
    if run.is_smoke:
        return Outlook(
            "success",
            _("The Smoke has passed") if run.status == states.RunStatus.SUCCEEDED else _("The Smoke is over"),
            _(
                "It counts for a Full of this version for the hours that the cycle says. You may stop "
                "the service."
            ),
        )
    if run.service_released_at is not None:
        text = _("You may stop the service. A reviewer may ask for it again.")
        return Outlook("success", _("The run is over"), text)
    return Outlook(
        "warning",
        _("Keep the service and its memories running"),
        _("The run is scored and goes to review. This page and a mail say when you may stop."),
    )


def _ended(run: Run) -> Outlook:
    if run.status == states.RunStatus.CANCELLED:
        return Outlook("info", _("The run was cancelled"), _("You may stop the service."))
    return Outlook("danger", _("The run has failed"), _(run.sentence) if run.sentence else "")
