"""``/audit/``: the public rows of the hash-chained log of decisions."""

from __future__ import annotations

import json
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from aml.web import audit
from aml.web.models import AuditEntry

ROWS_A_PAGE = 50

ACTS = {
    "row.published": _("A result was published"),
    "row.removed": _("A result was taken down"),
    "review.approved": _("The reviewers approved a result"),
    "review.rejected": _("The reviewers rejected a result"),
    "pack.imported": _("A benchmark was imported"),
    "baseline.measured": _("A baseline was measured"),
    "contract.made": _("An evaluation contract was made"),
}


@require_safe
def audit_log(request: HttpRequest) -> HttpResponse:
    rows = Paginator(audit.public_rows().order_by("-sequence"), ROWS_A_PAGE)
    page = rows.get_page(request.GET.get("page"))
    context = {
        "page_obj": page,
        "rows": [_row(row) for row in page],
        "roots": audit.roots(limit=30),
        "api_url": "/api/v1/audit",
    }
    return render(request, "pages/audit.html", context)


def _row(row: AuditEntry) -> dict[str, Any]:
    return {
        "sequence": row.sequence,
        "at": row.at,
        "act": ACTS.get(row.act, row.act),
        "subject": row.subject,
        "actor": row.actor_label,
        "reason": row.reason,
        "data": json.dumps(row.data, ensure_ascii=False, indent=2, sort_keys=True) if row.data else "",
        "entry_hash": row.entry_hash,
        "previous_hash": row.previous_hash,
    }
