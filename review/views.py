"""The reviewers' queue and case pages, and the participant's answer to a request for material."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from aml.web import clock
from aml.web.forms import attempt, submit_once
from evaluations.models import Run
from registration import access as people
from registration.access import PersonRequest
from review import access, services
from review.forms import DecideForm, MaterialForm, QueueForm
from review.models import Case
from review.serializers import questions as private
from review.serializers import queue as queues
from review.serializers.case import asked_and_answered, evidence

CASES_A_PAGE = 50
QUESTIONS_A_PAGE = 25


@access.page
def queue(request: PersonRequest) -> HttpResponse:
    form = QueueForm(request.GET or None)
    cases = queues.filtered(form.chosen(), reviewer=request.user)
    page = Paginator(cases, CASES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": QueueForm(initial={name: request.GET.get(name, "") for name in form.fields}),
        "filtered": any(request.GET.get(name) for name in form.fields),
        "page_obj": page,
        "rows": queues.rows(page.object_list, reviewer=request.user, now=clock.now()),
    }
    return render(request, "review/queue.html", context)


@access.page
def case(request: PersonRequest, public_id: str) -> HttpResponse:
    found = access.case_or_404(request.user, public_id)
    form = DecideForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and attempt(form, lambda: _decide(request, form, found)) is not None:
        messages.success(request, _("Your decision is recorded."))
        return redirect("review:case", public_id)
    context = {
        "case": found,
        "run": found.run,
        "form": form,
        "refusal": services.may_decide(request.user, found, found.run),
        "blockers": services.blockers(found),
        "approvals": found.decisions.filter(round=found.round, verdict="approve").select_related("reviewer"),
        "needed": Case.APPROVALS,
        **evidence(found),
    }
    return render(request, "review/case.html", context, status=422 if form.errors else 200)


def _decide(request: PersonRequest, form: DecideForm, found: Case) -> dict[str, object]:
    values = {name: form.cleaned_data[name] for name in ("verdict", "reason", "checklist")}

    def do() -> dict[str, object]:
        return {"id": services.decide(case=found, reviewer=request.user, **values).pk}

    nonce = form.cleaned_data["nonce"]
    answer, _repeated = submit_once(
        user=request.user, act=f"decide:{found.pk}", nonce=nonce, values=values, do=do
    )
    return answer


@access.page
def questions(request: PersonRequest, public_id: str) -> HttpResponse:
    """Private content. Reading it is logged: the one row that a GET writes, and no page depends on it."""
    found = access.case_or_404(request.user, public_id)
    page = Paginator(private.asks(found.run), QUESTIONS_A_PAGE).get_page(request.GET.get("page"))
    units = list(page.object_list)
    opened = next((unit for unit in units if unit.ask == request.GET.get("memories")), None)
    services.note_private_view(
        case=found, run=found.run, reviewer=request.user, asks=[unit.ask for unit in units],
        memories_of=opened.ask if opened else "",
    )  # fmt: skip
    context = {
        "case": found,
        "run": found.run,
        "page_obj": page,
        "rows": private.question_rows(found.run, units),
        "opened": opened,
        "memories": private.memories(opened) if opened else None,
    }
    response = render(request, "review/questions.html", context)
    add_never_cache_headers(response)
    return response


@people.page
def material(request: PersonRequest, public_id: str) -> HttpResponse:
    """What reviewers asked of the participant, and the answer."""
    run, found = access.own_case_or_404(request.user, public_id)
    form = MaterialForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and attempt(form, lambda: _answer(request, form, run)) is not None:
        messages.success(request, _("Your answer is with the reviewers; a mail tells you how it goes on."))
        return redirect("review:material", public_id)
    context = {
        "run": run,
        "form": form,
        "waiting": found.status == Case.Status.NEEDS_MATERIAL and run.publication == "needs_material",
        "may_act": people.may_act(request.user, run.registration.participant),
        "exchange": asked_and_answered(found),
    }
    return render(request, "review/material.html", context, status=422 if form.errors else 200)


def _answer(request: PersonRequest, form: MaterialForm, run: Run) -> dict[str, object]:
    text = form.cleaned_data["text"]

    def do() -> dict[str, object]:
        return {"id": services.answer_material(run=run, text=text, actor=request.user).pk}

    answer, _repeated = submit_once(
        user=request.user, act=f"material:{run.pk}", nonce=form.cleaned_data["nonce"], values={"text": text}, do=do
    )  # fmt: skip
    return answer
