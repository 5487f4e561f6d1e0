"""A run: its live page, its figures as files, cancelling and resuming."""

from __future__ import annotations

import csv
from dataclasses import asdict
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from aml.lib.text import spreadsheet_cell
from aml.web import formats
from aml.web.errors import Refusal
from aml.web.forms import add_refusal, attempt
from evaluations import states
from evaluations.access import run_or_404
from evaluations.forms import CancelForm
from evaluations.models import Run
from evaluations.services import (
    bundle_of,
    cancel_cost,
    cancel_run,
    is_unofficial,
    progress,
    results,
    resume_run,
)
from evaluations.services.quotas import ENDS
from evaluations.services.results import Results
from evaluations.views.live import fragment
from evaluations.views.outlook import outlook
from registration import access
from registration.access import PersonRequest
from registration.types import PolicyRow, QuotaEffect

SHOWN_EVENTS = 50


@access.page
def run(request: PersonRequest, public_id: str) -> HttpResponse:
    found = run_or_404(request.user, public_id)
    context = _live(request, found) | {"spec": found.spec}
    return render(request, "evaluations/run.html", context)


@access.page
def run_progress(request: PersonRequest, public_id: str) -> HttpResponse:
    """The page's changing part; once the run is over, the poll asks for the whole page."""
    found = run_or_404(request.user, public_id)
    return fragment(request, "evaluations/_run_live.html", _live(request, found), over=found.is_final)


def _live(request: PersonRequest, found: Run) -> dict[str, Any]:
    """What page and poll share."""
    figures = results(found)
    events = list(found.events.order_by("-number")[:SHOWN_EVENTS])
    return {
        "run": found,
        "participant": found.registration.participant,
        "may_act": access.may_act(request.user, found.registration.participant),
        "progress": progress(found),
        "outlook": outlook(found),
        "events": [_event(event) for event in events],
        "results": figures,
        "speed": _speed(figures) if figures else [],
        "cost": _cost(figures) if figures else [],
        "unofficial": is_unofficial(found),
    }


def _speed(figures: Results) -> list[tuple[str, str]]:
    measured = figures.measures
    return [
        (_("Add, p50 and p95"), _percentiles(measured.get("add"))),
        (_("Search, p50 and p95"), _percentiles(measured.get("search"))),
        (_("Time to store everything"), formats.duration(measured.get("ingest_seconds"))),
    ]


def _percentiles(measured: dict[str, float | None] | None) -> str:
    values = [(measured or {}).get(name) for name in ("p50", "p95")]
    return ", ".join(formats.milliseconds(None if value is None else value * 1000) for value in values)


def _cost(figures: Results) -> list[tuple[str, str]]:
    measured = figures.measures
    tokens = measured.get("memory_tokens_per_question")
    return [
        (_("Memories' tokens a question"), "" if tokens is None else f"{tokens:,.0f}"),
        (_("Calls to your service"), formats.count(measured.get("calls"))),
        (_("Calls that failed"), formats.percent(measured.get("error_rate"), decimals=2)),
    ]


def _event(event: Any) -> dict[str, Any]:
    who = {
        "platform": _("platform"), "participant": _("participant"), "organiser": _("organiser"),
        "reviewer": _("reviewer"),
    }  # fmt: skip
    status = event.status_to or str(event.data.get("to", ""))
    return {
        "at": event.at,
        # The sentence is a marked English text; here it takes the reader's language.
        "title": _(event.sentence) if event.sentence else event.kind,
        "state": status or "current",
        "who": who.get(event.actor, event.actor),
        "text": "",
    }


@access.page
def run_results(request: PersonRequest, public_id: str, form: str) -> HttpResponse:
    found = run_or_404(request.user, public_id)
    figures = results(found)
    if figures is None:
        raise Refusal("no_results", _("This run has no results yet."), status=404)
    name = f'attachment; filename="aml-run-{found.public_id}.{form}"'
    response = _csv(figures) if form == "csv" else JsonResponse(_json(found, figures))
    response["Content-Disposition"] = name
    return response


def _json(found: Run, figures: Results) -> dict[str, Any]:
    return {
        "run": found.public_id,
        "version": found.version.public_id,
        "contract_hash": found.contract.hash,
        "offline": found.contract.offline,
        "unofficial": is_unofficial(found),
        **asdict(figures),
    }


def _csv(figures: Results) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    writer = csv.writer(response)
    writer.writerow(["capability", "title", "weight", "asks", "scored", "score", "ci_low", "ci_high"])
    for row in figures.capabilities:
        cells = [row.id, row.title, row.weight, row.asks, row.scored, row.value, row.low, row.high]
        writer.writerow(map(spreadsheet_cell, cells))
    overall = [figures.asks, figures.scored, figures.overall, figures.low, figures.high]
    writer.writerow(["overall", "", 1, *overall])
    return response


@access.page
def run_bundle(request: PersonRequest, public_id: str) -> HttpResponse:
    found = run_or_404(request.user, public_id)
    response = HttpResponse(bundle_of(found), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="aml-bundle-{found.public_id}.zip"'
    return response


@access.page
def run_cancel(request: PersonRequest, public_id: str) -> HttpResponse:
    found = run_or_404(request.user, public_id)
    access.acting(request.user, found.registration.participant)
    form = CancelForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        expected = form.cleaned_data["expected"]
        if attempt(form, lambda: cancel_run(actor=request.user, run=found, expected=expected)):
            return redirect("evaluations:run", public_id)
        found = run_or_404(request.user, public_id)
    if found.is_final:
        return redirect("evaluations:run", public_id)
    row = cancel_cost(found).row
    context = {"run": found, "form": form, "expected": row.key, "effects": _cancel_effects(found, row)}
    return render(request, "evaluations/run_cancel.html", context, status=409 if form.errors else 200)


def _cancel_effects(found: Run, row: PolicyRow) -> list[tuple[str, Any]]:
    what = _("Smoke") if found.is_smoke else _("Full")
    quota = {
        QuotaEffect.REFUNDED: _("given back"),
        QuotaEffect.USED: _("used: it does not come back"),
    }
    cooldown = row.cooldown and not found.is_smoke
    hours = found.cycle.cooldown_hours if cooldown else 0
    return [
        (_("This is counted as"), ENDS[row.key]),
        (_("The %(kind)s") % {"kind": what}, quota[row.quota]),
        (_("Cooldown"), formats.duration(hours * 3600) if hours else _("none")),
        (_("What was measured so far"), _("is not scored and not shown anywhere")),
    ]


@access.page
def run_resume(request: PersonRequest, public_id: str) -> HttpResponse:
    found = run_or_404(request.user, public_id)
    access.acting(request.user, found.registration.participant)
    form = CancelForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        try:
            resume_run(actor=request.user, run=found)
            return redirect("evaluations:run", public_id)
        except Refusal as refusal:
            form.is_valid()
            add_refusal(form, refusal)
    if found.status != states.RunStatus.PAUSED and not form.errors:
        return redirect("evaluations:run", public_id)
    context = {"run": found, "form": form}
    return render(request, "evaluations/run_resume.html", context, status=409 if form.errors else 200)
