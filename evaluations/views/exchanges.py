"""The exchanges of a Smoke: failing first, with headers masked and the place of the fault marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
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
from registration import access
from registration.access import PersonRequest

PRETTY_UP_TO = 100_000  # characters; longer bodies are shown as they came


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    marked: bool


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
    exchange = found.exchange or {}
    return {
        "trace": found,
        "latency_ms": None if found.latency is None else found.latency * 1000,
        "method": exchange.get("method", ""),
        "url": exchange.get("url", ""),
        "request_headers": exchange.get("request_headers", []),
        "request": list(marked_lines(exchange.get("request_body", ""), pointer=None)),
        "response_headers": exchange.get("response_headers", []),
        "response": list(marked_lines(exchange.get("response_body", ""), pointer=found.pointer or None)),
        "warnings": exchange.get("warnings", []),
        "has_content": found.exchange is not None,
    }


def marked_lines(body: str, *, pointer: str | None) -> Iterator[Line]:
    """The body as indented JSON, the lines at the JSON pointer marked; what is no JSON as it came."""
    try:
        value = json.loads(body) if len(body) <= PRETTY_UP_TO else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict | list):
        yield from (Line(line, marked=False) for line in body.splitlines())
        return
    for text, path in _pretty(value, path="", indent=0, lead=""):
        here = pointer is not None and (path == pointer or path.startswith(pointer + "/"))
        yield Line(text, marked=here and pointer != "")


def _pretty(value: object, *, path: str, indent: int, lead: str) -> Iterator[tuple[str, str]]:
    """(line, JSON pointer of its value) pairs."""
    space = "  " * indent
    if isinstance(value, dict) and value:
        pairs = [
            (_escaped(str(key)), f"{json.dumps(key, ensure_ascii=False)}: ", one)
            for key, one in value.items()
        ]
        yield from _block(pairs, brackets="{}", path=path, indent=indent, lead=lead)
    elif isinstance(value, list) and value:
        items = [(str(index), "", one) for index, one in enumerate(value)]
        yield from _block(items, brackets="[]", path=path, indent=indent, lead=lead)
    else:
        yield f"{space}{lead}{json.dumps(value, ensure_ascii=False)}", path


def _block(
    items: list[tuple[str, str, object]], *, brackets: str, path: str, indent: int, lead: str
) -> Iterator[tuple[str, str]]:
    space = "  " * indent
    yield f"{space}{lead}{brackets[0]}", path
    for place, (step, key, one) in enumerate(items):
        lines = list(_pretty(one, path=f"{path}/{step}", indent=indent + 1, lead=key))
        if place < len(items) - 1:
            lines[-1] = (lines[-1][0] + ",", lines[-1][1])
        yield from lines
    yield f"{space}{brackets[1]}", path


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
