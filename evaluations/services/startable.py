"""What every start needs, of a check, a Smoke or a Full: site, registration, version and cycle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from aml.web import formats
from evaluations import states
from evaluations.services.decisions import YES, Decision, first_no, no
from evaluations.services.facts import Facts
from registration.models import Cycle, Registration, Version

CHECK = "check"


@dataclass(frozen=True, slots=True)
class Question:
    """May ``version`` start a run of ``kind``, or a check, in ``track``? Answered from ``facts``."""

    version: Version
    track: str
    kind: str
    facts: Facts

    @property
    def registration(self) -> Registration:
        return self.facts.registration

    @property
    def cycle(self) -> Cycle:
        return self.facts.cycle

    @property
    def stops_at(self) -> datetime:
        """When the cycle takes no more of this kind."""
        full = self.kind == states.RunKind.FULL
        return self.cycle.full_closes_at if full else self.cycle.evaluation_stops_at


Rule = Callable[[Question], Decision]


def startable(asked: Question) -> Decision:
    return first_no(rule(asked) for rule in RULES)


def _maintenance(asked: Question) -> Decision:
    state = asked.facts.maintenance
    if state is None:
        return YES
    return no(
        "maintenance",
        state.maintenance_reason or _("The platform is being maintained; nothing starts meanwhile."),
        hint=_("Runs under way wait and go on by themselves. Try again later."),
    )


def _approved(asked: Question) -> Decision:
    status = asked.registration.status
    if status == Registration.Status.APPROVED:
        return YES
    if status == Registration.Status.SUBMITTED:
        return no(
            "not_approved",
            _("The organiser has not decided on this registration yet."),
            hint=_("You get a mail when it is decided; enter your system meanwhile."),
        )
    return no(
        "not_approved", _("This registration is not approved."), hint=asked.registration.decision_reason
    )


def _usable(asked: Question) -> Decision:
    when = asked.version.withdrawn_at or asked.version.entry.withdrawn_at
    if when is None:
        return YES
    return no(
        "version_withdrawn",
        _("This version was withdrawn on %(when)s.") % {"when": formats.utc(when)},
        hint=_("Make a new version."),
    )


def _cycle_open(asked: Question) -> Decision:
    now, opens, stops = asked.facts.now, asked.cycle.opens_at, asked.stops_at
    if now < opens:
        return no(
            "cycle_closed",
            _("The cycle opens on %(when)s.") % {"when": formats.utc(opens)},
            next_allowed_at=opens,
        )
    if now < stops:
        return YES
    return no(
        "cycle_closed", _("The last start in this cycle was on %(when)s.") % {"when": formats.utc(stops)}
    )


def _entered(asked: Question) -> Decision:
    entered = [one.track for one in asked.version.entry.tracks.all()]
    if asked.track in entered:
        return YES
    return no(
        "track_not_entered",
        _("%(system)s is not entered in this track.") % {"system": asked.version.entry.name},
        hint=_("It is entered in: %(tracks)s.") % {"tracks": ", ".join(entered)},
        tracks=entered,
    )


def _track_open(asked: Question) -> Decision:
    if asked.track in asked.facts.tracks:
        return YES
    return no(
        "cycle_closed",
        _("This track is not open in this cycle."),
        hint=_("The organiser opens it once its benchmark and models are set."),
    )


RULES: tuple[Rule, ...] = (_maintenance, _approved, _usable, _cycle_open, _entered, _track_open)
