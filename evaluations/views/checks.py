"""Conformance checks: ask for one, read its report."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from aml.web import clock
from aml.web.errors import Refusal
from aml.web.forms import new_nonce, submit_once
from evaluations.access import check_or_404
from evaluations.forms import TrackForm
from evaluations.models import Check
from evaluations.services import Facts, may_check, request_check
from evaluations.services.checks import UNDER_WAY
from evaluations.views.live import fragment
from evaluations.views.wire import wire
from registration import access
from registration.access import PersonRequest
from registration.models import Version

ORDER = ("fail", "warning", "not_tested", "pass", "not_applicable")


@require_POST
@access.page
def check_start(request: PersonRequest, public_id: str) -> HttpResponse:
    version = access.version_or_404(request.user, public_id)
    form = TrackForm(request.POST)
    if not form.is_valid():
        raise Refusal("invalid_field", str(next(iter(form.errors.values()))[0]), status=400)
    try:
        check = _request(request, form, version)
    except Refusal as refusal:
        if refusal.code != "active_check" or "check" not in refusal.extra:
            raise
        check = refusal.extra["check"]
    return redirect("evaluations:check", check)


def _request(request: PersonRequest, form: TrackForm, version: Version) -> str:
    track = form.cleaned_data["track"]

    def do() -> dict[str, str]:
        return {"id": request_check(actor=request.user, version=version, track=track).public_id}

    answer, _repeated = submit_once(
        user=request.user, act=f"check:{version.pk}", nonce=form.cleaned_data["nonce"],
        values={"track": track}, do=do,
    )  # fmt: skip
    return str(answer["id"])


@access.page
def check(request: PersonRequest, public_id: str) -> HttpResponse:
    found = check_or_404(request.user, public_id)
    facts = Facts(found.version.entry.registration, now=clock.now())
    context = _context(found) | {
        "may_act": access.may_act(request.user, found.registration.participant),
        "again": may_check(version=found.version, track=found.track, facts=facts),
        "nonce": new_nonce(),
    }
    return render(request, "evaluations/check.html", context)


@access.page
def check_progress(request: PersonRequest, public_id: str) -> HttpResponse:
    """The page's changing part; once the check is over, the poll asks for the whole page."""
    found = check_or_404(request.user, public_id)
    return fragment(
        request, "evaluations/_check_live.html", _context(found), over=found.status not in UNDER_WAY
    )


@access.page
def check_report(request: PersonRequest, public_id: str) -> HttpResponse:
    found = check_or_404(request.user, public_id)
    if found.report is None:
        raise Refusal("no_report", found.get_status_display(), status=404)
    response = JsonResponse(found.report, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="aml-check-{found.public_id}.json"'
    return response


def _context(found: Check) -> dict[str, Any]:
    report = found.report or {}
    results = sorted(report.get("checks", []), key=lambda one: ORDER.index(one["outcome"]))
    return {
        "check": found,
        "under_way": found.status in UNDER_WAY,
        "report": report,
        "results": [_line(one) for one in results],
        "summary": _summary(found, results),
    }


def _line(one: dict[str, Any]) -> dict[str, Any]:
    shown_only = one["severity"] == "shown" and one["outcome"] in ("pass", "warning")
    return {
        "name": one["name"],
        "state": "shown" if shown_only else one["outcome"],
        "severity": one["severity"],
        "sentence": one["sentence"],
        "next": one["advice"] if one["outcome"] in ("fail", "warning") else "",
        "exchanges": [wire(each) for each in one["exchanges"]],
    }


def _summary(found: Check, results: list[dict[str, Any]]) -> str:
    """Plain text to copy into a ticket."""
    lines = [f"{found.version} · {found.track} · check {found.public_id} · {found.status}"]
    lines += [
        f"{one['outcome']:<14} {one['severity']:<8} {one['name']}: {one['sentence']}" for one in results
    ]
    return "\n".join(lines)
