"""The current cycle in words: its title in the reader's language, its phase, its dates with time left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from aml.web import clock, formats
from registration.models import Cycle

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

#: Dates in order: the field, what happens then, and the state of the cycle from then on.
MILESTONES: tuple[tuple[str, StrOrPromise, StrOrPromise], ...] = (
    ("opens_at", gettext_lazy("Registration opens"), gettext_lazy("Open for registration and runs")),
    (
        "registration_closes_at",
        gettext_lazy("Registration closes"),
        gettext_lazy("Registration is closed; registered participants go on"),
    ),
    (
        "full_closes_at",
        gettext_lazy("Last start of a Full"),
        gettext_lazy("Fulls under way go on; none starts any more"),
    ),
    (
        "evaluation_stops_at",
        gettext_lazy("Evaluation stops"),
        gettext_lazy("Evaluation is over; results are under review"),
    ),
    ("results_at", gettext_lazy("Results"), gettext_lazy("The results are final")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone:
    """``state`` is done, current (the next one) or upcoming; ``note`` the time left or gone by."""

    title: StrOrPromise
    at: datetime
    state: str
    note: str
    local: str


def current() -> Cycle | None:
    return Cycle.objects.current_at(clock.now())


def context(cycle: Cycle | None) -> dict[str, Any]:
    """What pages about a cycle need; everything None or empty where none is announced."""
    if cycle is None:
        return {"cycle": None, "cycle_title": "", "cycle_summary": "", "phase": "", "milestones": []}
    now = clock.now()
    return {
        "cycle": cycle,
        "cycle_title": formats.in_language({"en": cycle.title, "zh": cycle.title_zh}),
        "cycle_summary": formats.in_language({"en": cycle.summary, "zh": cycle.summary_zh}),
        "phase": phase(cycle, now=now),
        "milestones": milestones(cycle, now=now),
    }


def phase(cycle: Cycle, *, now: datetime) -> StrOrPromise:
    passed = [state for name, _title, state in MILESTONES if getattr(cycle, name) <= now]
    return passed[-1] if passed else gettext_lazy("Not open yet")


def milestones(cycle: Cycle, *, now: datetime) -> list[Milestone]:
    dates: list[datetime] = [getattr(cycle, name) for name, _title, _state in MILESTONES]
    coming = next((index for index, at in enumerate(dates) if at > now), len(dates))
    return [
        Milestone(
            title=title,
            at=at,
            state="done" if at <= now else "current" if index == coming else "upcoming",
            note=_note(at, now=now),
            local=local_time(at, zone=cycle.timezone),
        )
        for index, (at, (_name, title, _state)) in enumerate(zip(dates, MILESTONES, strict=True))
    ]


def local_time(at: datetime, *, zone: str) -> str:
    """The same moment on the clocks of the cycle's zone; empty where that is UTC. AoE is UTC-12."""
    if zone == "UTC":
        return ""
    there = at.astimezone(ZoneInfo("Etc/GMT+12" if zone == "AoE" else zone))
    return f"{there:%Y-%m-%d %H:%M} {zone}"


def _note(at: datetime, *, now: datetime) -> str:
    if at > now:
        return _("in %(time)s") % {"time": formats.duration(at - now)}
    return _("%(time)s ago") % {"time": formats.duration(now - at)}
