"""The participant's desk."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from aml.web import clock
from aml.web.forms import new_nonce
from evaluations.models import Check, Run
from evaluations.services import Facts, quota_view
from evaluations.services.standings import standings_of
from evaluations.views.next_act import Act, next_act
from registration import access
from registration.access import PersonRequest
from registration.models import Cycle, Registration

SHOWN_RUNS = 20


@access.page
def desk(request: PersonRequest) -> HttpResponse:
    now = clock.now()
    cycle = Cycle.objects.current_at(now)
    registration = _registration(request, cycle)
    may_act = registration is None or access.may_act(request.user, registration.participant)
    details = _details(Facts(registration, now=now)) if registration else {"standings": []}
    act = next_act(
        user=request.user,
        registration=registration,
        standings=details["standings"],
        cycle=cycle,
        may_act=may_act,
    )
    context: dict[str, Any] = {
        "cycle": registration.cycle if registration else cycle,
        "registration": registration,
        "others": access.registrations_of(request.user).exclude(pk=registration.pk if registration else 0),
        "may_act": may_act,
        "act": act,
        "steps": _steps(act, registration),
        "nonce": new_nonce(),
        **details,
    }
    return render(request, "evaluations/desk.html", context)


def _registration(request: PersonRequest, cycle: Cycle | None) -> Registration | None:
    """The one asked for; else the running one; else the newest of the current cycle."""
    asked = request.GET.get("registration", "")
    if asked and not asked.isalnum():
        raise Http404
    chosen = access.current_registration(request.user, asked)
    return chosen or access.registrations_of(request.user).filter(cycle=cycle).first()


def _details(facts: Facts) -> dict[str, Any]:
    registration = facts.registration
    runs = Run.objects.filter(registration=registration).select_related("version__entry", "contract", "score")
    return {
        "standings": standings_of(facts),
        "entries": registration.entries.prefetch_related("tracks", "versions").order_by("created_at"),
        "runs": runs.order_by("-accepted_at")[:SHOWN_RUNS],
        "checks": Check.objects.filter(registration=registration)
        .select_related("version__entry")
        .order_by("-requested_at")[:5],
        "quota": quota_view(facts),
        "live_keys": registration.keys.filter(revoked_at__isnull=True).count(),
    }


def _steps(act: Act, registration: Registration | None) -> list[dict[str, str]]:
    """The way to a published row; everything before the present step is done."""
    titles = {
        "register": _("Register"),
        "approve": _("Approval"),
        "entry": _("Enter a system"),
        "key": _("Evaluation Key"),
        "check": _("Conformance check"),
        "smoke": _("Smoke"),
        "full": _("Full"),
        "review": _("Review and publication"),
    }
    names = list(titles)
    if act.step == "entry" and registration and registration.status == Registration.Status.SUBMITTED:
        names.remove("entry")
        names.insert(names.index("approve"), "entry")
    here = names.index(act.step)
    states = ["done" if place < here else "upcoming" for place in range(len(names))]
    states[here] = "blocked" if act.label == "" or (act.reason and not act.href) else "current"
    hrefs = (
        {"register": reverse("registration:registration", args=[registration.public_id])}
        if registration
        else {}
    )
    return [
        {"title": titles[name], "state": state, "href": hrefs.get(name, "")}
        for name, state in zip(names, states, strict=True)
    ]
