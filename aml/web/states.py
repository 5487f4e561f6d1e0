"""Every state's word, icon and tone, in one table: badges, timelines and lists read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class StateInfo:
    """``tone`` is one of good, busy, warning, danger, quiet; ``icon`` a name of ``aml.web.icons``."""

    label: StrOrPromise
    tone: str
    icon: str


def _good(label: StrOrPromise, icon: str = "check") -> StateInfo:
    return StateInfo(label=label, tone="good", icon=icon)


def _busy(label: StrOrPromise, icon: str = "run") -> StateInfo:
    return StateInfo(label=label, tone="busy", icon=icon)


def _warning(label: StrOrPromise, icon: str = "warning") -> StateInfo:
    return StateInfo(label=label, tone="warning", icon=icon)


def _danger(label: StrOrPromise, icon: str = "cross") -> StateInfo:
    return StateInfo(label=label, tone="danger", icon=icon)


def _quiet(label: StrOrPromise, icon: str = "circle") -> StateInfo:
    return StateInfo(label=label, tone="quiet", icon=icon)


RUN_STATES = {
    "queued": _quiet(_("Queued"), "clock"),
    "running": _busy(_("Running")),
    "paused": _warning(_("Paused"), "pause"),
    "succeeded": _good(_("Succeeded")),
    "partial": _warning(_("Partly completed"), "half"),
    "failed": _danger(_("Failed")),
    "cancelled": _quiet(_("Cancelled"), "stop"),
}

PUBLICATION_STATES = {
    "private": _quiet(_("Private"), "lock"),
    "in_review": _busy(_("In review"), "eye"),
    "needs_material": _warning(_("Needs material")),
    "approved": _good(_("Approved")),
    "published": _good(_("Published"), "flag"),
    "rejected": _danger(_("Rejected")),
    "withdrawn": _quiet(_("Withdrawn"), "back"),
    "disqualified": _danger(_("Disqualified"), "stop"),
    "withheld": _warning(_("Withheld"), "lock"),
}

CHECK_STATES = {
    "pass": _good(_("Pass")),
    "passed": _good(_("Passed")),
    "fail": _danger(_("Fail")),
    "warning": _warning(_("Warning")),
    "shown": _quiet(_("Shown only"), "info"),
    "not_tested": _quiet(_("Not tested"), "dash"),
    "not_applicable": _quiet(_("Not applicable"), "dash"),
}

WORK_STATES = {
    "draft": _quiet(_("Draft")),
    "pending": _warning(_("Waiting for approval"), "clock"),
    "active": _good(pgettext_lazy("state", "Active")),
    "revoked": _quiet(_("Revoked"), "stop"),
    "expired": _quiet(_("Expired"), "clock"),
    "frozen": _quiet(_("Frozen"), "lock"),
    "open": _good(pgettext_lazy("state", "Open"), "circle"),
    "closed": _quiet(_("Closed"), "stop"),
    "upcoming": _quiet(_("Not open yet"), "clock"),
    "done": _good(_("Done")),
    "current": _busy(_("Now"), "circle"),
    "blocked": _warning(_("Waiting"), "lock"),
    "ok": _good(_("Working")),
    "degraded": _warning(_("Degraded")),
    "down": _danger(_("Down")),
}

MARKS = {
    "open_source": _quiet(_("Open source"), "code"),
    "commercial": _quiet(_("Commercial"), "box"),
    "baseline": _quiet(_("Baseline"), "dash"),
    "offline": _warning(_("Offline models")),
    "unofficial": _warning(_("Unofficial")),
    "self_run": _warning(_("Self-run"), "person"),
    "incomplete": _warning(_("Partly completed"), "half"),
    "smoke": _quiet(_("Smoke")),
    "full": _quiet(_("Full")),
}

STATES: dict[str, StateInfo] = {
    **RUN_STATES,
    **PUBLICATION_STATES,
    **CHECK_STATES,
    **WORK_STATES,
    **MARKS,
}

PHASES: dict[str, StrOrPromise] = {
    "starting": _("Starting"),
    "ingesting": _("Adding memories"),
    "searching": _("Searching"),
    "answering": _("Answering"),
    "judging": _("Judging"),
    "aggregating": _("Adding up"),
}

PAUSE_REASONS: dict[str, StrOrPromise] = {
    "endpoint": _("Your service does not answer. The run goes on by itself as soon as it does."),
    "provider": _("The model provider does not answer. This is not your fault; the run goes on by itself."),
    "operator": _("The organiser has paused the run. Nothing is lost and you need to do nothing."),
}

FAULTS: dict[str, StrOrPromise] = {
    "participant": _("Your service"),
    "provider": _("Model provider"),
    "platform": _("This platform"),
}


def state_info(state: object) -> StateInfo:
    """Word, icon and tone of a state; an unknown one is shown as it is, quietly."""
    name = str(state)
    return STATES.get(name) or _quiet(name.replace("_", " ").capitalize())
