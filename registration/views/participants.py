"""Participants: create, join, members."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from aml.web.forms import attempt, submit_once
from registration import access, services
from registration.access import PersonRequest
from registration.forms.people import JoinForm, ParticipantForm, RoleForm
from registration.models import Member


@access.page
def participant_new(request: PersonRequest) -> HttpResponse:
    form = ParticipantForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and (done := attempt(form, lambda: _create(request, form))):
        return redirect("registration:participant", done)
    return render(
        request, "registration/participant_new.html", {"form": form}, status=422 if form.errors else 200
    )


@access.page
def participant_join(request: PersonRequest) -> HttpResponse:
    form = JoinForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        code = form.cleaned_data["code"]
        participant = attempt(form, lambda: services.join_participant(actor=request.user, code=code))
        if participant is not None:
            messages.success(request, _("You are a member of %(name)s.") % {"name": participant.name})
            return redirect("registration:participant", participant.public_id)
    return render(
        request, "registration/participant_join.html", {"form": form}, status=422 if form.errors else 200
    )


@access.page
def participant(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.participant_or_404(request.user, public_id)
    member = access.member_of(request.user, found)
    context = {
        "participant": found,
        "member": member,
        "is_owner": member.role == Member.Role.OWNER,
        "members": found.members.select_related("user").order_by("joined_at", "pk"),
        "roles": Member.Role.choices,
        "registrations": found.registrations.select_related("cycle").order_by("-cycle__opens_at"),
    }
    return render(request, "registration/participant.html", context)


@require_POST
@access.page
def participant_join_code(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.participant_or_404(request.user, public_id)
    services.renew_join_code(actor=request.user, participant=found)
    messages.success(request, _("There is a new join code; the old one does not work any more."))
    return redirect("registration:participant", public_id)


@require_POST
@access.page
def member_role(request: PersonRequest, public_id: str, person: str) -> HttpResponse:
    found = access.participant_or_404(request.user, public_id)
    member = get_object_or_404(found.members.select_related("user", "participant"), user__public_id=person)
    form = RoleForm(request.POST)
    if form.is_valid():
        services.set_role(actor=request.user, member=member, role=form.cleaned_data["role"])
        messages.success(
            request,
            _("%(who)s: %(role)s.") % {"who": member.user, "role": member.get_role_display()},
        )
    return redirect("registration:participant", public_id)


def _create(request: PersonRequest, form: ParticipantForm) -> str:
    values = {name: form.cleaned_data[name] for name in ("name", "kind", "organisation")}

    def do() -> dict[str, str]:
        return {"id": services.create_participant(actor=request.user, **values).public_id}

    nonce = form.cleaned_data["nonce"]
    answer, _repeated = submit_once(
        user=request.user, act="participant_new", nonce=nonce, values=values, do=do
    )
    return str(answer["id"])
