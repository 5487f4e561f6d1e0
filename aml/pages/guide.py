"""``/api-guide/``: the memory contract and the REST calls, from the same constants that the code uses."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from aml.pages import cycles
from aml.pages.refusals import REFUSALS
from aml.web import formats
from evaluations.engine.contract import contract_document
from evaluations.runner.shells import platform_agent
from evaluations.services.limits import cycle_limits

ADD_REQUEST = {
    "request_id": "q5v0c1xq8d2m7k3t",
    "user_id": "u7c9a1e6b0d4f2a8",
    "session_id": "s1b4e7c0f9a2d6e3",
    "messages": [
        {"role": "user", "content": "My sister Ada moved to Lisbon in May.", "timestamp": 1748772000000},
        {"role": "assistant", "content": "I'll remember that.", "timestamp": 1748772004000},
    ],
}
ADD_REPLY = {
    "success": True,
    "request_id": "q5v0c1xq8d2m7k3t",
    "user_id": "u7c9a1e6b0d4f2a8",
    "session_id": "s1b4e7c0f9a2d6e3",
}
SEARCH_REQUEST = {"query": "Where does my sister live?", "user_id": "u7c9a1e6b0d4f2a8", "top_k": 100}
SEARCH_REPLY = {
    "data": [
        {
            "id": "m-1",
            "content": "Ada, the user's sister, moved to Lisbon in May 2025.",
            "score": 0.92,
            "created_at": "2025-06-01T10:00:00Z",
        }
    ]
}
EXAMPLES = (
    ("add_request", _("Add: what you receive"), ADD_REQUEST),
    ("add_reply", _("Add: what you answer, with status 200"), ADD_REPLY),
    ("search_request", _("Search: what you receive"), SEARCH_REQUEST),
    ("search_reply", _("Search: what you answer, with status 200"), SEARCH_REPLY),
)

#: (method, path below /api/v1, what it does, whether it needs a key)
CALLS = (
    ("GET", "/contract", _("This page's numbers, tables and JSON Schemas"), False),
    ("GET", "/cycles/current", _("Dates and rules of the current cycle"), False),
    ("GET", "/tracks", _("Tracks with their benchmark and evaluation contract"), False),
    ("GET", "/me", _("Participant, entries, versions, quota and cooldown"), True),
    ("POST", "/checks", _("Start a conformance check of a version"), True),
    ("GET", "/checks/{id}", _("A check's report"), True),
    ("POST", "/runs", _("Start a Smoke or a Full"), True),
    ("GET", "/runs", _("Your runs"), True),
    ("GET", "/runs/{id}", _("Status, progress, whose fault, results"), True),
    ("GET", "/runs/{id}/events", _("What happened, by ascending number; ?after=N"), True),
    ("GET", "/runs/{id}/attempts", _("Every call: of a Smoke with content, of a Full without"), True),
    ("POST", "/runs/{id}/cancel", _("Cancel a run"), True),
    ("POST", "/runs/{id}/resume", _("Ask a paused run to try again now"), True),
    ("GET", "/runs/{id}/bundle", _("The signed result bundle"), True),
    ("GET", "/boards/{track}/{division}", _("A board; ?cycle=, ?snapshot=, ?format=csv"), False),
    ("GET", "/systems/{slug}", _("A system's public profile"), False),
    ("GET", "/audit", _("Public rows of the audit log; ?after=N"), False),
)


@require_safe
def api_guide(request: HttpRequest) -> HttpResponse:
    cycle = cycles.current()
    document = contract_document(cycle_limits(cycle), agent=platform_agent())
    context = {
        "cycle": cycle,
        "document": document,
        "limits": [{**limit, "shown": shown_limit(limit)} for limit in document["limits"]],
        "examples": [(name, title, _pretty(example)) for name, title, example in EXAMPLES],
        "schemas": [(name, _pretty(schema)) for name, schema in document["schemas"].items()],
        "egress": settings.EGRESS_ADDRESSES,
        "calls": CALLS,
        "refusals": REFUSALS,
        "api_url": f"{settings.SITE_URL}/api/v1",
    }
    return render(request, "pages/api_guide.html", context)


def shown_limit(limit: dict[str, Any]) -> str:
    """``8388608`` bytes → ``8 MiB``, ``1800`` seconds → ``30 min``."""
    value, unit = limit["value"], limit["unit"]
    if unit == "bytes":
        return _bytes(value)
    if unit == "seconds":
        return formats.duration(value) if value >= 1 and value == int(value) else f"{value:g} s"
    if unit == "milliseconds":
        return f"{value} ms"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _bytes(value: int) -> str:
    for size, unit in ((1024**2, "MiB"), (1024, "KiB")):
        if value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value:,} B"


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
