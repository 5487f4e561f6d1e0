"""Systems: enter one, look at it, withdraw it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from aml.web.forms import attempt, submit_once
from registration import access, services
from registration.access import PersonRequest
from registration.forms.people import WithdrawForm
from registration.forms.systems import EntryForm
from registration.models import Entry, Registration
from registration.services import guards


@access.page
def entry_new(request: PersonRequest) -> HttpResponse:
    registration = access.current_registration(request.user, request.GET.get("registration", ""))
    if registration is None:
        return render(request, "registration/entry_needs_registration.html")
    access.acting(request.user, registration.participant)
    guards.still_entering(registration)
    data = request.POST if request.method == "POST" else None
    start = {"contact": request.user.email, "organisation": registration.participant.organisation}
    form = EntryForm(data, registration=registration, initial=start)
    if form.is_valid() and (done := attempt(form, lambda: _create(request, form, registration))):
        return redirect("registration:entry", done)
    context = {"form": form, "registration": registration}
    return render(request, "registration/entry_new.html", context, status=422 if form.errors else 200)


@access.page
def entry(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.entry_or_404(request.user, public_id)
    context = {
        "entry": found,
        "registration": found.registration,
        "may_act": access.may_act(request.user, found.registration.participant),
        "versions": found.versions.order_by("-number"),
    }
    return render(request, "registration/entry.html", context)


@access.page
def entry_withdraw(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.entry_or_404(request.user, public_id)
    access.acting(request.user, found.registration.participant)
    form = WithdrawForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        if attempt(form, lambda: services.withdraw_entry(actor=request.user, entry=found, reason=reason)):
            messages.success(request, _("%(name)s was withdrawn.") % {"name": found.name})
            return redirect("registration:entry", public_id)
    context = {"form": form, "entry": found}
    return render(request, "registration/withdraw.html", context, status=422 if form.errors else 200)


def _create(request: PersonRequest, form: EntryForm, registration: Registration) -> str:
    system = {name: form.cleaned_data[name] for name in ("name", "description", "tracks")}
    values, key = form.values(), form.cleaned_data["memory_key"]

    def do() -> dict[str, str]:
        made: Entry = services.create_entry(
            actor=request.user, registration=registration, version=values, memory_key=key, **system
        )
        return {"id": made.public_id}

    nonce = form.cleaned_data["nonce"]
    answer, _repeated = submit_once(
        user=request.user, act="entry_new", nonce=nonce, values={**system, **values}, do=do
    )
    return str(answer["id"])
