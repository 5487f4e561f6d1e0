"""Conformance checks for scripts."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from aml.web.errors import FieldRefusal
from evaluations.api.answers import once, person_of, registration_of, version_of
from evaluations.models import Check
from evaluations.serializers import CheckAnswer, CheckRequest
from evaluations.services import request_check
from registration.models import Version


@extend_schema(
    operation_id="request_check", tags=["checks"], request=CheckRequest, responses={201: CheckAnswer}
)
@api_view(["POST"])
def checks(request: Request) -> Response:
    """Start a conformance check of a version. Takes ``Idempotency-Key``."""
    body = CheckRequest(data=request.data)
    body.is_valid(raise_exception=True)
    values = body.validated_data

    def do() -> dict[str, Any]:
        version = version_of(request, values["version"])
        track = values.get("track") or _only_track(version)
        return dict(CheckAnswer(request_check(actor=person_of(request), version=version, track=track)).data)

    return once(request, act="checks", body=values, do=do)


@extend_schema(operation_id="get_check", tags=["checks"], responses={200: CheckAnswer})
@api_view(["GET"])
def check(request: Request, public_id: str) -> Response:
    """Progress, and once it is finished the report by check names."""
    found = Check.objects.filter(registration=registration_of(request)).select_related("version")
    return Response(CheckAnswer(get_object_or_404(found, public_id=public_id)).data)


def _only_track(version: Version) -> str:
    tracks = [one.track for one in version.entry.tracks.all()]
    if len(tracks) != 1:
        raise FieldRefusal(
            "track",
            _("This system is entered in several tracks; name one of: %(tracks)s.")
            % {"tracks": ", ".join(tracks)},
        )
    return tracks[0]
