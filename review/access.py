"""Who sees what: the review pages are for reviewers, and for anybody else they don't exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404

from aml.web.models import User
from evaluations.access import run_or_404
from evaluations.models import Run
from registration import access as people
from registration.access import PersonRequest
from review.models import Case
from review.services import guards

P = ParamSpec("P")

_CASE = (
    "run__version__entry", "run__registration__participant", "run__cycle", "run__contract", "run__pack", "run__score",
)  # fmt: skip


def page(
    view: Callable[Concatenate[PersonRequest, P], HttpResponse],
) -> Callable[..., HttpResponse]:
    """For reviewers: others are sent to log in, or find nothing. A Refusal becomes a page that says why."""

    @wraps(view)
    def reviewing(request: PersonRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_reviewer:
            raise Http404
        return view(request, *args, **kwargs)

    return people.page(reviewing)


def case_or_404(user: User, public_id: str) -> Case:
    """Raises Refusal where the reviewer belongs to the participant: then the page is none of theirs."""
    case = get_object_or_404(Case.objects.select_related(*_CASE), public_id=public_id)
    if refusal := guards.conflict(user, case.run):
        raise refusal
    return case


def own_case_or_404(user: User, run_id: str) -> tuple[Run, Case]:
    """The case of one of the person's own runs, where material was ever asked for."""
    run = run_or_404(user, run_id)
    asked = Case.objects.filter(decisions__verdict="needs_material").distinct()
    return run, get_object_or_404(asked, run=run)
