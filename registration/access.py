"""Who sees what: every page loads its object through the person's own participants; a foreign id is a 404."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from aml.web import clock
from aml.web.errors import Refusal
from aml.web.models import User
from registration.models import Entry, EvaluationKey, Member, Participant, Registration, Version
from registration.services import guards

P = ParamSpec("P")


class PersonRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User


def page(
    view: Callable[Concatenate[PersonRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For logged-in people; a Refusal that the view does not show itself becomes a page that says why."""

    @wraps(view)
    def explained(request: Any, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return render(request, "registration/refused.html", {"refusal": refusal}, status=refusal.status)

    decorated: Callable[..., HttpResponse] = login_required(explained)
    return decorated


def member_of(user: User, participant: Participant) -> Member:
    return get_object_or_404(Member.objects.select_related("participant"), user=user, participant=participant)


def participant_or_404(user: User, public_id: str) -> Participant:
    return get_object_or_404(Participant.objects.of(user), public_id=public_id)


def registration_or_404(user: User, public_id: str) -> Registration:
    return get_object_or_404(registrations_of(user), public_id=public_id)


def entry_or_404(user: User, public_id: str) -> Entry:
    entries = Entry.objects.visible_to(user).select_related(
        "registration__participant", "registration__cycle"
    )
    return get_object_or_404(entries, public_id=public_id)


def version_or_404(user: User, public_id: str) -> Version:
    versions = Version.objects.visible_to(user).select_related(
        "entry__registration__participant", "entry__registration__cycle"
    )
    return get_object_or_404(versions, public_id=public_id)


def key_or_404(user: User, key_id: str) -> EvaluationKey:
    keys = EvaluationKey.objects.filter(registration__in=Registration.objects.of(user))
    return get_object_or_404(keys.select_related("registration__participant"), key_id=key_id)


def registrations_of(user: User) -> QuerySet[Registration]:
    """Newest cycle first."""
    return (
        Registration.objects.of(user)
        .select_related("participant", "cycle", "decided_by")
        .order_by("-cycle__opens_at", "pk")
    )


def current_registration(user: User, public_id: str = "") -> Registration | None:
    """The one named, else the newest whose evaluation goes on; a foreign name is a 404."""
    if public_id:
        return registration_or_404(user, public_id)
    running = registrations_of(user).filter(
        status__in=Registration.LIVE, cycle__evaluation_stops_at__gt=clock.now()
    )
    return running.first()


def acting(user: User, participant: Participant) -> Member:
    """For pages that change something: refuses viewers with a reason."""
    return guards.acting_member(user, participant)


def may_act(user: User, participant: Participant) -> bool:
    return Member.objects.filter(participant=participant, user=user, role__in=Member.ACTING).exists()
