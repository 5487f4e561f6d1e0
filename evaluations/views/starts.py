"""Starting a Smoke or a Full from a page that tells first what it costs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from aml.web import clock, formats
from aml.web.errors import Refusal
from aml.web.forms import attempt, submit_once
from evaluations import states
from evaluations.forms import RunForm, StatementsForm
from evaluations.models import Run
from evaluations.services import Decision, Facts, Order, may_start, start_run, what_if
from registration import access
from registration.access import PersonRequest
from registration.models import Version
from registration.models.entries import TrackChoice

FULL, SMOKE = states.RunKind.FULL, states.RunKind.SMOKE


@access.page
def smoke_start(request: PersonRequest, public_id: str) -> HttpResponse:
    version, track = _asked(request, public_id)
    form = _run_form(request, version, kind=SMOKE)
    facts = Facts(version.entry.registration, now=clock.now())
    decision = may_start(version=version, track=track, kind=SMOKE, facts=facts)
    if form.is_valid() and (run := attempt(form, lambda: _start(request, version, track, form))):
        return redirect("evaluations:run", run)
    context = _context(version, track, form, decision, facts) | {"effects": _smoke_effects(facts, track)}
    return render(request, "evaluations/smoke_start.html", context, status=422 if form.errors else 200)


@access.page
def full_start(request: PersonRequest, public_id: str) -> HttpResponse:
    version, track = _asked(request, public_id)
    form = _run_form(request, version, kind=FULL)
    confirmed = StatementsForm(request.POST if request.method == "POST" else None)
    facts = Facts(version.entry.registration, now=clock.now())
    decision = may_start(version=version, track=track, kind=FULL, facts=facts)
    # Both are asked, so that all errors are shown at once.
    valid = form.is_valid() & confirmed.is_valid()
    if valid and (run := attempt(form, lambda: _start(request, version, track, form, confirmed))):
        return redirect("evaluations:run", run)
    context = _context(version, track, form, decision, facts) | {
        "confirmed": confirmed,
        "effects": _full_effects(facts, track),
        "cooldown": formats.duration(facts.cycle.cooldown_hours * 3600),
        "what_if": what_if(facts, track=track),
    }
    wrong = form.errors or confirmed.errors
    return render(request, "evaluations/full_start.html", context, status=422 if wrong else 200)


def _asked(request: PersonRequest, public_id: str) -> tuple[Version, str]:
    """The version and the track of the address; without one, the version's only or first track."""
    version = access.version_or_404(request.user, public_id)
    access.acting(request.user, version.entry.registration.participant)
    tracks = [one.track for one in version.entry.tracks.all()]
    track = request.GET.get("track") or tracks[0]
    if track not in TrackChoice.values:
        raise Refusal("track_not_entered", _("There is no such track."), status=404)
    return version, track


def _run_form(request: PersonRequest, version: Version, *, kind: str) -> RunForm:
    number = Run.objects.filter(registration=version.entry.registration, kind=kind).count() + 1
    label = f"{version} {states.RunKind(kind).label} {number}"
    posted = request.POST if request.method == "POST" else None
    return RunForm(posted, version=version, initial={"label": label[:80]})


def _start(
    request: PersonRequest,
    version: Version,
    track: str,
    form: RunForm,
    confirmed: StatementsForm | None = None,
) -> str:
    values = {name: form.cleaned_data[name] for name in ("label", "add", "search")}
    kind = SMOKE if confirmed is None else FULL
    order = Order(
        track=track,
        kind=kind,
        accepted=confirmed.accepted() if confirmed else (),
        **({"statements_version": confirmed.cleaned_data["statements_version"]} if confirmed else {}),
        **values,
    )

    def do() -> dict[str, str]:
        return {"id": start_run(actor=request.user, version=version, order=order).public_id}

    answer, _repeated = submit_once(
        user=request.user, act=f"run:{version.pk}:{kind}:{track}", nonce=form.cleaned_data["nonce"],
        values=values, do=do,
    )  # fmt: skip
    return str(answer["id"])


def _context(version: Version, track: str, form: RunForm, decision: Decision, facts: Facts) -> dict[str, Any]:
    entered = facts.tracks.get(track)
    return {
        "version": version,
        "entry": version.entry,
        "registration": facts.registration,
        "cycle": facts.cycle,
        "track": track,
        "track_title": TrackChoice(track).label,
        "form": form,
        "decision": decision,
        "reason": " ".join(part for part in (decision.reason, decision.hint) if part),
        "contract": entered.contract if entered else None,
    }


def _smoke_effects(facts: Facts, track: str) -> list[tuple[str, str]]:
    cycle, used = facts.cycle, facts.smokes_used[track]
    return [
        (
            _("Smokes in this track"),
            _("%(next)s of %(limit)s with this one") % {"next": used + 1, "limit": cycle.smokes_per_track},
        ),
        (
            _("The next one"),
            _("at most %(limit)s an hour in a track") % {"limit": cycle.smokes_per_hour},
        ),
        (_("Fulls and cooldown"), _("not touched")),
        (_("A passing Smoke counts for"), formats.duration(cycle.smoke_fresh_hours * 3600)),
    ]


def _full_effects(facts: Facts, track: str) -> list[tuple[str, str]]:
    cycle, used = facts.cycle, facts.fulls[track]
    scope = _("in this cycle") if used.scope == "cycle" else _("in this track")
    return [
        (
            _("Quota"),
            _("Full %(next)s of %(limit)s %(scope)s; %(left)s left after it")
            % {"next": used.used + 1, "limit": used.limit, "scope": scope, "left": max(0, used.left - 1)},
        ),
        (
            _("Cooldown"),
            _("%(days)s in this track from the moment it finishes, if it succeeds or completes partially")
            % {"days": formats.duration(cycle.cooldown_hours * 3600)},
        ),
        (
            _("The platform starts it within"),
            _("%(hours)s of acceptance; the deadline is on the run page")
            % {"hours": formats.duration(cycle.start_deadline_hours * 3600)},
        ),
        (_("Frozen from acceptance"), _("code, image, endpoints, authentication, capacity of this version")),
        (
            _("An outage of your service"),
            _("the run waits up to %(hours)s and goes on by itself")
            % {"hours": formats.duration(cycle.outage_end_hours * 3600)},
        ),
    ]
