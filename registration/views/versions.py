"""Versions: look at one, change what may change, make the next."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from aml.web.forms import attempt, submit_once
from registration import access, services
from registration.access import PersonRequest
from registration.forms.people import WithdrawForm
from registration.forms.systems import MemoryKeyForm, VersionForm
from registration.forms.texts import PUBLISHABLE, SECTIONS
from registration.models import Entry, Version
from registration.services import guards, rules
from registration.services.entries import refuse_withdrawn


@access.page
def version(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.version_or_404(request.user, public_id)
    context = {
        "version": found,
        "entry": found.entry,
        "registration": found.entry.registration,
        "may_act": access.may_act(request.user, found.entry.registration.participant),
        "sections": _sections(found),
        "frozen_titles": [rules.title_of(name) for name in Version.FROZEN_FIELDS if getattr(found, name)],
        "open_titles": [rules.title_of(name) for name in rules.OPEN_FIELDS],
    }
    return render(request, "registration/version.html", context)


@access.page
def version_edit(request: PersonRequest, public_id: str) -> HttpResponse:
    found = _changeable(request, public_id)
    form = VersionForm(
        request.POST if request.method == "POST" else None,
        instance=found,
        registration=found.entry.registration,
        only=_editable(request, found),
    )
    if form.is_valid() and attempt(form, lambda: _update(request, form, public_id)) is not None:
        messages.success(request, _("The changes are saved."))
        return redirect("registration:version", public_id)
    context = {"form": form, "version": found, "entry": found.entry}
    return render(request, "registration/version_edit.html", context, status=422 if form.errors else 200)


@access.page
def version_new(request: PersonRequest, public_id: str) -> HttpResponse:
    entry = access.entry_or_404(request.user, public_id)
    access.acting(request.user, entry.registration.participant)
    guards.still_entering(entry.registration)
    form = VersionForm(
        request.POST if request.method == "POST" else None,
        registration=entry.registration,
        initial=services.version_start(entry),
    )
    if form.is_valid() and (done := attempt(form, lambda: _create(request, form, entry))):
        return redirect("registration:version", done)
    context = {"form": form, "entry": entry}
    return render(request, "registration/version_new.html", context, status=422 if form.errors else 200)


@access.page
def version_memory_key(request: PersonRequest, public_id: str) -> HttpResponse:
    found = _changeable(request, public_id)
    form = MemoryKeyForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        key = form.cleaned_data["memory_key"]
        if attempt(form, lambda: services.set_memory_key(actor=request.user, version=found, key=key)):
            messages.success(request, _("The memory key is stored. Calls use it from now on."))
            return redirect("registration:version", public_id)
    context = {"form": form, "version": found, "entry": found.entry}
    return render(request, "registration/memory_key.html", context, status=422 if form.errors else 200)


@access.page
def version_withdraw(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.version_or_404(request.user, public_id)
    access.acting(request.user, found.entry.registration.participant)
    form = WithdrawForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        if attempt(form, lambda: services.withdraw_version(actor=request.user, version=found, reason=reason)):
            messages.success(request, _("%(name)s was withdrawn.") % {"name": found})
            return redirect("registration:version", public_id)
    context = {"form": form, "version": found, "entry": found.entry}
    return render(request, "registration/withdraw.html", context, status=422 if form.errors else 200)


def _changeable(request: PersonRequest, public_id: str) -> Version:
    found = access.version_or_404(request.user, public_id)
    access.acting(request.user, found.entry.registration.participant)
    guards.still_entering(found.entry.registration)
    refuse_withdrawn(found)
    return found


def _editable(request: PersonRequest, found: Version) -> tuple[str, ...]:
    """All fields, or a frozen version's open ones.

    A page opened before the freeze still sends the frozen fields; they stay, so that the service refuses
    a change by name instead of dropping it in silence.
    """
    if found.frozen_at is None or request.POST.keys() & set(Version.FROZEN_FIELDS):
        return ()
    return rules.OPEN_FIELDS


def _update(request: PersonRequest, form: VersionForm, public_id: str) -> Version:
    # The form has written into its own instance; the service compares with the stored row.
    stored = access.version_or_404(request.user, public_id)
    key = form.cleaned_data.get("memory_key") or ""
    return services.update_version(actor=request.user, version=stored, values=form.values(), memory_key=key)


def _create(request: PersonRequest, form: VersionForm, entry: Entry) -> str:
    values, key = form.values(), form.cleaned_data["memory_key"]

    def do() -> dict[str, str]:
        made = services.new_version(actor=request.user, entry=entry, values=values, memory_key=key)
        return {"id": made.public_id}

    nonce = form.cleaned_data["nonce"]
    act = f"version_new:{entry.pk}"
    answer, _repeated = submit_once(user=request.user, act=act, nonce=nonce, values=values, do=do)
    return str(answer["id"])


def _sections(found: Version) -> list[dict[str, object]]:
    """What the version says, section by section; fields of the other division and empty sections left out."""
    sections: list[dict[str, object]] = []
    for section in SECTIONS:
        rows = [
            {
                "title": rules.title_of(name),
                "value": _shown(found, name),
                "frozen": found.frozen_at is not None and name in Version.FROZEN_FIELDS,
                "long": Version._meta.get_field(name).get_internal_type() == "TextField",
            }
            for name in section.fields
            if name in rules.VERSION_FIELDS and getattr(found, name) not in ("", None)
        ]
        if rows:
            sections.append({"title": section.title, "rows": rows})
    return sections


def _shown(found: Version, name: str) -> object:
    if name == "auth_scheme":
        return found.get_auth_scheme_display()
    if name == "public_fields":
        return ", ".join(str(PUBLISHABLE[each]) for each in found.public_fields if each in PUBLISHABLE)
    return getattr(found, name)
