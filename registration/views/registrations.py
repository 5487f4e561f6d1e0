"""Applying for a cycle, and what became of it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render

from aml.web import clock
from aml.web.errors import Refusal
from aml.web.forms import attempt, submit_once
from registration import access, services
from registration.access import PersonRequest
from registration.forms.people import ReapplyForm, RegisterForm
from registration.models import Cycle, Member, Participant, Registration
from registration.services import guards


@access.page
def register(request: PersonRequest) -> HttpResponse:
    cycle = Cycle.objects.current_at(clock.now())
    acting = _acting_participants(request)
    free = [each for each in acting if not each.registrations.filter(cycle=cycle).exists()] if cycle else []
    posted = request.method == "POST"
    # A second click sends a participant that is no longer free: the nonce leads it to the first one's page.
    form = RegisterForm(request.POST if posted else None, participants=acting if posted else free)
    if cycle and form.is_valid() and (done := attempt(form, lambda: _register(request, form, cycle))):
        return redirect("registration:registration", done)
    context = {
        "cycle": cycle,
        "closed": _why_closed(cycle) if cycle else None,
        "form": form,
        "free": free,
        "registrations": access.registrations_of(request.user).filter(cycle=cycle) if cycle else [],
        "participants": Participant.objects.of(request.user),
    }
    return render(request, "registration/register.html", context, status=422 if form.errors else 200)


@access.page
def registration(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.registration_or_404(request.user, public_id)
    context = {
        "registration": found,
        "cycle": found.cycle,
        "may_act": access.may_act(request.user, found.participant),
        "entries": found.entries.prefetch_related("tracks", "versions").order_by("created_at"),
        "live_keys": found.keys.filter(revoked_at__isnull=True).count(),
        "closed": _why_closed(found.cycle),
    }
    return render(request, "registration/registration.html", context)


@access.page
def reapply(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.registration_or_404(request.user, public_id)
    access.acting(request.user, found.participant)
    if found.status != Registration.Status.REJECTED:
        return redirect("registration:registration", public_id)
    start = {"division": found.division, "statement": found.statement}
    form = ReapplyForm(request.POST if request.method == "POST" else None, initial=start)
    if form.is_valid() and attempt(form, lambda: _reapply(request, form, found)) is not None:
        return redirect("registration:registration", public_id)
    return render(
        request,
        "registration/reapply.html",
        {"form": form, "registration": found, "closed": _why_closed(found.cycle)},
        status=422 if form.errors else 200,
    )


def _acting_participants(request: PersonRequest) -> list[Participant]:
    acting = Participant.objects.filter(members__user=request.user, members__role__in=Member.ACTING)
    return list(acting.order_by("name"))


def _why_closed(cycle: Cycle) -> Refusal | None:
    try:
        guards.registration_open(cycle)
    except Refusal as refusal:
        return refusal
    return None


def _register(request: PersonRequest, form: RegisterForm, cycle: Cycle) -> str:
    values: dict[str, Any] = {
        name: form.cleaned_data[name] for name in ("participant", "division", "statement")
    }

    def do() -> dict[str, str]:
        return {"id": services.register(actor=request.user, cycle=cycle, **values).public_id}

    nonce = form.cleaned_data["nonce"]
    answer, _repeated = submit_once(user=request.user, act="register", nonce=nonce, values=values, do=do)
    return str(answer["id"])


def _reapply(request: PersonRequest, form: ReapplyForm, found: Registration) -> Registration:
    return services.reapply(
        actor=request.user,
        registration=found,
        division=form.cleaned_data["division"],
        statement=form.cleaned_data["statement"],
    )
