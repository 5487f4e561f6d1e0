"""Public calls of the API: boards, systems, the audit log. No key needed; every answer has an ETag."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view, authentication_classes, permission_classes, renderer_classes
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from aml.lib.text import whole_number
from aml.web import audit
from aml.web.errors import FieldRefusal
from aml.web.http import tagged
from leaderboard import access
from leaderboard.serializers import data
from leaderboard.serializers.profile import profile
from leaderboard.types import Measures

MOST_AUDIT_ROWS = 500


class CsvRenderer(BaseRenderer):
    """``?format=csv``: the text that the view made."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        return data.encode() if isinstance(data, str) else JSONRenderer().render(data)


@extend_schema(
    operation_id="board",
    tags=["public"],
    parameters=[
        OpenApiParameter("cycle", OpenApiTypes.STR, description="Slug of another cycle than the current."),
        OpenApiParameter("snapshot", OpenApiTypes.INT, description="The board as this snapshot kept it."),
        OpenApiParameter("format", OpenApiTypes.STR, enum=["json", "csv"]),
    ],
    responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
@renderer_classes([JSONRenderer, CsvRenderer])
def board(request: Request, track: str, division: str) -> HttpResponse:
    """The board of a track and division, as the page shows it. Scores are fractions from 0 to 1."""
    query = request.query_params
    place = access.place_or_404(track=track, division=division, cycle=query.get("cycle", ""))
    shown = access.shown_or_404(place, number=query.get("snapshot", ""))
    if shown.board is None:
        raise Http404
    text = data.board_json(shown)
    if isinstance(request.accepted_renderer, CsvRenderer):
        text = data.board_csv(shown.board, shown.snapshot)
        return tagged(request, Response(text), content=text)
    return tagged(request, Response(data.document(shown.board, shown.snapshot)), content=text)


@extend_schema(operation_id="system", tags=["public"], responses={200: OpenApiTypes.OBJECT})
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def system(request: Request, slug: str) -> HttpResponse:
    """A system's public profile: versions, published runs, and how many Fulls there were."""
    found = _plain(profile(access.entry_or_404(slug)))
    return tagged(request, Response(found), content=JSONRenderer().render(found))


@extend_schema(
    operation_id="audit",
    tags=["public"],
    parameters=[OpenApiParameter("after", OpenApiTypes.INT, description="Rows after this sequence number.")],
    responses={200: OpenApiTypes.OBJECT},
)
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def audit_log(request: Request) -> HttpResponse:
    """Public rows of the hash-chained log, oldest first, and the daily roots."""
    given = request.query_params.get("after", "0")
    after = whole_number(given)
    if after is None:
        raise FieldRefusal("after", f"Got {given[:40]!r}; expected a sequence number.")
    rows = list(audit.public_rows().filter(sequence__gt=after).order_by("sequence")[:MOST_AUDIT_ROWS])
    content = {
        "rows": [audit.public_form(row) for row in rows],
        "roots": audit.roots(),
        "next_after": rows[-1].sequence if len(rows) == MOST_AUDIT_ROWS else None,
    }
    return tagged(request, Response(content), content=JSONRenderer().render(content))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, Measures):
        return asdict(value)
    return value.isoformat() if isinstance(value, datetime) else value
