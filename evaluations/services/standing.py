"""What every start needs, of a check, a Smoke or a Full: site, registration, version and cycle."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from aml.web import formats
from aml.web.models import PlatformState
from evaluations import states
from evaluations.models import CycleTrack
from evaluations.services.decisions import YES, Decision, no
from registration.models import Cycle, Registration, Version


def standing(*, version: Version, track: str, now: datetime, last_start: datetime) -> Decision:
    """``last_start`` is when the cycle takes no more of this kind."""
    registration = version.entry.registration
    for decision in (
        _maintenance(),
        _approved(registration),
        _usable(version),
        _cycle_open(registration.cycle, now=now, last_start=last_start),
        _entered(version, track=track),
        _track_open(registration.cycle, track=track),
    ):
        if not decision.allowed:
            return decision
    return YES


def last_start(cycle: Cycle, *, kind: str) -> datetime:
    return cycle.full_closes_at if kind == states.RunKind.FULL else cycle.evaluation_stops_at


def contract_track(cycle: Cycle, *, track: str) -> CycleTrack | None:
    """The cycle's track with its contract and packs, if it is open and ready to be evaluated."""
    found = CycleTrack.objects.filter(
        cycle=cycle, track=track, is_open=True, contract__full_pack__complete=True,
        contract__smoke_pack__complete=True,
    )  # fmt: skip
    return found.select_related("contract__full_pack", "contract__smoke_pack").first()


def _maintenance() -> Decision:
    state = PlatformState.objects.filter(pk=1, maintenance=True).first()
    if state is None:
        return YES
    return no(
        "maintenance",
        state.maintenance_reason or _("The platform is being maintained; nothing starts meanwhile."),
        hint=_("Runs under way wait and go on by themselves. Try again later."),
    )


def _approved(registration: Registration) -> Decision:
    status = registration.status
    if status == Registration.Status.APPROVED:
        return YES
    if status == Registration.Status.SUBMITTED:
        return no(
            "not_approved",
            _("The organiser has not decided on this registration yet."),
            hint=_("You get a mail when it is decided; enter your system meanwhile."),
        )
    return no("not_approved", _("This registration is not approved."), hint=registration.decision_reason)


def _usable(version: Version) -> Decision:
    when = version.withdrawn_at or version.entry.withdrawn_at
    if when is None:
        return YES
    return no(
        "version_withdrawn",
        _("This version was withdrawn on %(when)s.") % {"when": formats.utc(when)},
        hint=_("Make a new version."),
    )


def _cycle_open(cycle: Cycle, *, now: datetime, last_start: datetime) -> Decision:
    if now < cycle.opens_at:
        return no(
            "cycle_closed",
            _("The cycle opens on %(when)s.") % {"when": formats.utc(cycle.opens_at)},
            next_allowed_at=cycle.opens_at,
        )
    if now < last_start:
        return YES
    return no(
        "cycle_closed", _("The last start in this cycle was on %(when)s.") % {"when": formats.utc(last_start)}
    )


def _entered(version: Version, *, track: str) -> Decision:
    entered = [one.track for one in version.entry.tracks.all()]
    if track in entered:
        return YES
    return no(
        "track_not_entered",
        _("%(system)s is not entered in this track.") % {"system": version.entry.name},
        hint=_("It is entered in: %(tracks)s.") % {"tracks": ", ".join(entered)},
        tracks=entered,
    )


def _track_open(cycle: Cycle, *, track: str) -> Decision:
    if contract_track(cycle, track=track) is not None:
        return YES
    return no(
        "cycle_closed",
        _("This track is not open in this cycle."),
        hint=_("The organiser opens it once its benchmark and models are set."),
    )
