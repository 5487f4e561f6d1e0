"""The one thing that a participant can do now, or why not and from when (look.md, "Participant's desk")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext as _

from aml.web.errors import Refusal
from aml.web.models import User
from evaluations import states
from evaluations.models import Run
from evaluations.services.standings import TrackStanding
from registration.models import Cycle, EvaluationKey, Participant, Registration
from registration.services import guards

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """``check`` makes the button ask for a conformance check of that version and track."""

    step: str
    title: StrOrPromise
    text: StrOrPromise = ""
    label: StrOrPromise = ""
    href: str = ""
    check: TrackStanding | None = None
    reason: StrOrPromise = ""
    opens_at: datetime | None = None
    more_href: str = ""
    more_label: StrOrPromise = ""


def next_act(
    *,
    user: User,
    registration: Registration | None,
    standings: Sequence[TrackStanding],
    cycle: Cycle | None,
    may_act: bool,
) -> Act:
    if registration is None:
        return _before_registration(user, cycle)
    act = _of_registration(registration, standings)
    if may_act or not act.label:
        return act
    reason = _("You are a viewer of this participant: an engineer or owner does this.")
    return Act(step=act.step, title=act.title, text=act.text, label=act.label, reason=reason)


def _before_registration(user: User, cycle: Cycle | None) -> Act:
    if cycle is None:
        return Act(
            step="register",
            title=_("No cycle is announced yet"),
            text=_("Once a cycle is open, you register for it here."),
        )
    if not Participant.objects.of(user).exists():
        return Act(
            step="register",
            title=_("Create a participant, or join one"),
            text=_("A participant is a person or a team. Systems, keys and quota belong to it."),
            label=_("Create a participant"),
            href=reverse("registration:participant_new"),
            more_href=reverse("registration:participant_join"),
            more_label=_("Join a team with its code"),
        )
    return _register(cycle)


def _register(cycle: Cycle) -> Act:
    title = _("Register for %(cycle)s") % {"cycle": cycle.title}
    text = _("Registration is free. You choose exactly one division; the organiser approves it.")
    label, reason, opens = _("Register"), "", None
    try:
        guards.registration_open(cycle)
    except Refusal as refusal:
        reason = refusal.reason
        opens = cycle.opens_at if "next_allowed_at" in refusal.extra else None
    href = "" if reason else reverse("registration:register")
    return Act(step="register", title=title, text=text, label=label, href=href, reason=reason, opens_at=opens)


def _of_registration(registration: Registration, standings: Sequence[TrackStanding]) -> Act:
    href = reverse("registration:registration", args=[registration.public_id])
    if registration.status == Registration.Status.REJECTED:
        return Act(
            step="approve",
            title=_("The registration was not approved"),
            text=registration.decision_reason,
            label=_("Read the reason and apply again"),
            href=href,
        )
    if registration.status == Registration.Status.WITHDRAWN:
        return Act(step="approve", title=_("The registration was withdrawn"))
    if not standings:
        return _enter(registration)
    if registration.status == Registration.Status.SUBMITTED:
        return Act(
            step="approve",
            title=_("The organiser decides on your registration"),
            text=_("Nothing to do for you: a mail tells you. Checks and runs start after the approval."),
            more_href=href,
            more_label=_("See the application"),
        )
    return _key(registration) or _of_standing(standings[0])


def _enter(registration: Registration) -> Act:
    waiting = registration.status == Registration.Status.SUBMITTED
    text = _("Its Add and Search URLs, how it authenticates us, and what it is made of.")
    if waiting:
        text += " " + _("You can do this while the organiser decides on your registration.")
    return Act(
        step="entry",
        title=_("Enter your system"),
        text=text,
        label=_("Enter a system"),
        href=reverse("registration:entry_new"),
    )


def _key(registration: Registration) -> Act | None:
    """Only before anything else was started: the pages work without a key."""
    if EvaluationKey.objects.filter(registration=registration).exists() or registration.runs.exists():
        return None
    if registration.checks.exists():
        return None
    return Act(
        step="key",
        title=_("Make your Evaluation Key"),
        text=_("Scripts start checks and runs with it. It is shown once."),
        label=_("Make a key"),
        href=reverse("registration:keys"),
    )


def _of_standing(standing: TrackStanding) -> Act:
    """Watch what is under way, else the next of check, Smoke and Full."""
    run = standing.active_run
    if run is not None:
        return _watch(run)
    if standing.active_check is not None:
        return Act(
            step="check",
            title=_("The conformance check is under way"),
            text=_("Its report appears within a few minutes."),
            label=_("See the report"),
            href=reverse("evaluations:check", args=[standing.active_check.public_id]),
        )
    if standing.wants == "check":
        return _check(standing)
    return _smoke(standing) if standing.wants == "smoke" else _full(standing)


def _watch(run: Run) -> Act:
    step = "smoke" if run.kind == states.RunKind.SMOKE else "full"
    return Act(
        step=step,
        title=_("“%(run)s” is under way") % {"run": run.label},
        text=_("The page moves by itself; you need not stay."),
        label=_("Watch the run"),
        href=reverse("evaluations:run", args=[run.public_id]),
    )


def _check(standing: TrackStanding) -> Act:
    failed = standing.check is not None
    decision = standing.may_check
    return Act(
        step="check",
        title=_("Repair what the check found, and check again") if failed else _("Check your service"),
        text=_("Some 30 named probes of the contract, in a minute or two. No quota, nothing is scored."),
        label=_("Check %(version)s") % {"version": standing.version},
        check=standing if decision.allowed else None,
        reason=decision.reason,
        opens_at=decision.next_allowed_at,
        more_href=reverse("evaluations:check", args=[standing.check.public_id]) if standing.check else "",
        more_label=_("See the last report") if failed else "",
    )


def _smoke(standing: TrackStanding) -> Act:
    last = standing.smoke
    decision = standing.may_smoke
    return Act(
        step="smoke",
        title=_("Start a Smoke"),
        text=_("The whole chain on public data. It is private, never ranked, and shows every exchange."),
        label=_("Start a Smoke of %(version)s") % {"version": standing.version},
        href=_url("smoke_start", standing) if decision.allowed else "",
        reason=decision.reason,
        opens_at=decision.next_allowed_at,
        more_href=reverse("evaluations:run", args=[last.public_id]) if last else "",
        more_label=_("See the last Smoke") if last else "",
    )


def _full(standing: TrackStanding) -> Act:
    decision = standing.may_full
    return Act(
        step="full",
        title=_("Start a Full"),
        text=_("The official score. The next page says what it does to your quota before you confirm."),
        label=_("Go to the confirmation"),
        href=_url("full_start", standing) if decision.allowed else "",
        reason=" ".join(part for part in (decision.reason, decision.hint) if part),
        opens_at=decision.next_allowed_at,
    )


def _url(name: str, standing: TrackStanding) -> str:
    return reverse(f"evaluations:{name}", args=[standing.version.public_id]) + f"?track={standing.track}"
