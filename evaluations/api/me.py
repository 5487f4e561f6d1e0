"""``GET /me``: everything that the desk shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from aml.web import clock
from evaluations.api.answers import choice_from, key_of, registration_of
from evaluations.models import Check, Run
from evaluations.services import Decision, Facts, quota_view, what_if
from evaluations.services.quotas import SIMULATED, QuotaView
from evaluations.services.standings import TrackStanding, standing
from registration.models import Entry, Registration, Version


@extend_schema(
    operation_id="me",
    tags=["participant"],
    parameters=[
        OpenApiParameter(
            "simulate",
            OpenApiTypes.STR,
            enum=list(SIMULATED),
            description="What a Full that ends so now does.",
        )
    ],
    responses={200: OpenApiTypes.OBJECT},
)
@api_view(["GET"])
def me(request: Request) -> Response:
    """Participant, entries, versions with what may start, quota and cooldown per track.

    Of the quota's ledger the newest 100 lines.
    """
    registration, now = registration_of(request), clock.now()
    facts = Facts(registration, now=now)
    answer: dict[str, Any] = {
        "participant": {
            "id": registration.participant.public_id,
            "name": registration.participant.name,
            "kind": registration.participant.kind,
        },
        "registration": {
            "id": registration.public_id,
            "cycle": registration.cycle.slug,
            "division": registration.division,
            "status": registration.status,
        },
        "key": {"id": key_of(request).key_id, "created_at": key_of(request).created_at},
        "now": now,
        "entries": [_entry(entry, facts) for entry in _entries(registration)],
        "quota": _quota(quota_view(facts)),
    }
    if ended := choice_from(request, "simulate", list(SIMULATED)):
        answer["simulation"] = _simulation(facts, ended)
    return Response(answer)


def _entries(registration: Registration) -> Iterable[Entry]:
    return registration.entries.prefetch_related("tracks", "versions").order_by("created_at", "pk")


def _entry(entry: Entry, facts: Facts) -> dict[str, Any]:
    return {
        "id": entry.public_id,
        "name": entry.name,
        "slug": entry.slug,
        "tracks": [one.track for one in entry.tracks.all()],
        "withdrawn_at": entry.withdrawn_at,
        "versions": [_version(version, entry, facts) for version in entry.versions.all()],
    }


def _version(version: Version, entry: Entry, facts: Facts) -> dict[str, Any]:
    version.entry = entry
    tracks = [one.track for one in entry.tracks.all()]
    return {
        "id": version.public_id,
        "label": version.label,
        "number": version.number,
        "created_at": version.created_at,
        "frozen_at": version.frozen_at,
        "withdrawn_at": version.withdrawn_at,
        "tracks": {track: _standing(standing(version, track, facts=facts)) for track in tracks},
    }


def _standing(found: TrackStanding) -> dict[str, Any]:
    return {
        "check": _brief(found.check),
        "smoke": _brief(found.smoke),
        "full": _brief(found.full),
        "may_check": decision_json(found.may_check),
        "may_start": {"smoke": decision_json(found.may_smoke), "full": decision_json(found.may_full)},
    }


def _brief(found: Check | Run | None) -> dict[str, Any] | None:
    return None if found is None else {"id": found.public_id, "status": found.status}


def decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "allowed": decision.allowed,
        "code": decision.code,
        "reason": decision.reason,
        "hint": decision.hint,
        "next_allowed_at": decision.next_allowed_at,
    }


def _quota(view: QuotaView) -> dict[str, Any]:
    return {
        "scope": view.scope,
        "starts": {"used": view.starts_used, "limit": view.starts_limit},
        "tracks": [
            {
                "track": one.track,
                "fulls": {"used": one.used, "limit": one.limit, "left": one.left},
                "smokes": {"used": one.smokes_used, "limit": one.smokes_limit},
                "cooldown_until": one.cooldown_until,
            }
            for one in view.tracks
        ],
        "ledger": [
            {
                "at": line.at,
                "track": line.track,
                "kind": line.kind,
                "act": line.act,
                "amount": line.amount,
                "run": line.run.public_id if line.run else None,
                "reason": line.reason,
            }
            for line in view.ledger
        ],
    }


def _simulation(facts: Facts, ended: str) -> list[dict[str, Any]]:
    return [
        {
            "track": one.track,
            "end": after.key,
            "fulls": {"used": after.used, "left": after.left},
            "cooldown_until": after.cooldown_until,
        }
        for one in quota_view(facts).tracks
        for after in what_if(facts, track=one.track, keys=(SIMULATED[ended],))
    ]
