"""The exchanges of a Smoke: failing first, with headers masked and the place of the fault marked."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render

from evaluations.access import run_or_404
from evaluations.forms import ExchangeFilter
from evaluations.services.traces import (
    PAGE,
    Trace,
    codes_met,
    refuse_content_of_full,
    service_attempts,
    trace,
)
from evaluations.views.wire import wire
from registration import access
from registration.access import PersonRequest


@access.page
def exchanges(request: PersonRequest, public_id: str) -> HttpResponse:
    run = run_or_404(request.user, public_id)
    refuse_content_of_full(run)
    form = ExchangeFilter(request.GET, codes=codes_met(run))
    form.is_valid()
    chosen = {name: form.cleaned_data.get(name, "") for name in ("code", "operation")}
    page = Paginator(service_attempts(run, failed_first=True, **chosen), PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "run": run,
        "form": form,
        "page_obj": page,
        "traces": [_shown(trace(attempt, content=True)) for attempt in page],
    }
    return render(request, "evaluations/exchanges.html", context)


def _shown(found: Trace) -> dict[str, Any]:
    return {
        "trace": found,
        "latency_ms": None if found.latency is None else found.latency * 1000,
        "failed": not found.ok,
        "wire": None if found.exchange is None else wire(found.exchange),
    }
