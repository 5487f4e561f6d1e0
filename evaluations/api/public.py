"""Public calls: the contract, the current cycle, its tracks. No key needed."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from aml.web import clock
from evaluations.api.answers import tagged
from evaluations.engine.contract import contract_document
from evaluations.models import CycleTrack
from evaluations.runner.shells import platform_agent
from evaluations.services import statements
from evaluations.services.limits import cycle_limits
from registration.models import Cycle
from registration.types import DEFAULT_POLICY

DATES = ("opens_at", "registration_closes_at", "full_closes_at", "evaluation_stops_at", "results_at")
RULES = (
    "full_limit", "full_scope", "start_limit", "smokes_per_hour", "smokes_per_track", "checks_per_hour",
    "smoke_fresh_hours", "cooldown_hours", "start_deadline_hours", "outage_end_hours", "zero_share_succeeded",
    "zero_share_partial", "allow_no_auth_full", "allow_plain_http", "rules_version",
)  # fmt: skip


@extend_schema(operation_id="contract", tags=["public"], responses={200: OpenApiTypes.OBJECT})
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def contract(request: Request) -> HttpResponse:
    """Limits with units, the retry table, error codes with whose fault, JSON Schemas."""
    cycle = Cycle.objects.current_at(clock.now())
    document = contract_document(cycle_limits(cycle), agent=platform_agent())
    return tagged(request, document | {"egress_addresses": list(settings.EGRESS_ADDRESSES)})


@extend_schema(operation_id="current_cycle", tags=["public"], responses={200: OpenApiTypes.OBJECT})
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def current_cycle(request: Request) -> HttpResponse:
    """Dates, rules, what each end of a Full does, and the statements that a Full needs."""
    cycle = _current()
    return tagged(
        request,
        {
            "slug": cycle.slug,
            "title": cycle.title,
            "title_zh": cycle.title_zh,
            "official": cycle.is_official,
            "timezone": cycle.timezone,
            "dates": {name: getattr(cycle, name) for name in DATES},
            "rules": {name: getattr(cycle, name) for name in RULES},
            "policy": [
                {"end": row.key, "quota": row.quota, "cooldown": row.cooldown} for row in DEFAULT_POLICY
            ],
            "statements": {
                "version": statements.VERSION,
                "items": [{"id": one.id, "text": str(one.text)} for one in statements.STATEMENTS],
            },
            "tracks": [_track(one) for one in _tracks(cycle)],
        },
    )


@extend_schema(operation_id="tracks", tags=["public"], responses={200: OpenApiTypes.OBJECT})
@api_view(["GET"])
@authentication_classes([])
@permission_classes([AllowAny])
def tracks(request: Request) -> HttpResponse:
    """The current cycle's tracks with their benchmark and evaluation contract."""
    return tagged(request, {"tracks": [_track(one) for one in _tracks(_current())]})


def _current() -> Cycle:
    cycle = Cycle.objects.current_at(clock.now())
    if cycle is None:
        raise Http404
    return cycle


def _tracks(cycle: Cycle) -> list[CycleTrack]:
    found = cycle.tracks.select_related("contract__full_pack", "contract__smoke_pack")
    return list(found.order_by("pk"))


def _track(one: CycleTrack) -> dict[str, Any]:
    contract = one.contract
    return {
        "track": one.track,
        "title": one.get_track_display(),
        "open": one.is_open and contract is not None,
        "contract": contract
        and {
            "hash": contract.hash,
            "full_pack": {"pack": contract.full_pack.pack, "version": contract.full_pack.version},
            "smoke_pack": {"pack": contract.smoke_pack.pack, "version": contract.smoke_pack.version},
            "answer_model": contract.answer_model,
            "judge_model": contract.judge_model,
            "offline": contract.offline,
            "calibrated": contract.calibrated,
        },
    }
