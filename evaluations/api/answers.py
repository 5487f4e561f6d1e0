"""What every call shares: who asks, the first answer again for a repeated key, ETags."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from aml.lib.text import whole_number
from aml.web import http, idempotency
from aml.web.errors import FieldRefusal
from aml.web.models import User
from registration.models import EvaluationKey, Registration, Version

HEADER = "Idempotency-Key"


def key_of(request: Request) -> EvaluationKey:
    key: object = request.auth
    if not isinstance(key, EvaluationKey):
        raise Http404
    return key


def registration_of(request: Request) -> Registration:
    """The one that the call's Evaluation Key belongs to."""
    return key_of(request).registration


def person_of(request: Request) -> User:
    """Who acts through the key."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def version_of(request: Request, public_id: str) -> Version:
    """A version of the key's registration; a foreign one is refused as unknown."""
    registration = registration_of(request)
    version = (
        Version.objects.filter(entry__registration=registration, public_id=public_id)
        .select_related("entry")
        .first()
    )
    if version is None:
        raise FieldRefusal(
            "version", _("There is no such version in your registration."), code="not_found", status=404
        )
    version.entry.registration = registration
    return version


def once(
    request: Request, *, act: str, body: Any, do: Callable[[], dict[str, Any]], status: int = 201
) -> Response:
    """Do it, once per ``Idempotency-Key`` where one is sent."""
    key = request.headers.get(HEADER)
    if not key:
        return Response(do(), status=status)
    scope = f"registration:{registration_of(request).pk}:{act}"
    code, answer, repeated = idempotency.once(
        scope=scope, key=key, request=body, act=lambda: (status, plain(do()))
    )
    return Response(answer, status=code, headers={"Idempotency-Replayed": "true"} if repeated else {})


def plain(data: Any) -> Any:
    """As it goes out: dates are texts."""
    return json.loads(JSONRenderer().render(data))


def tagged(request: Request, data: Any) -> HttpResponse:
    """With an ETag; 304 where the reader has it."""
    answer = Response(data, headers={"Cache-Control": "no-cache"})
    return http.tagged(request, answer, content=JSONRenderer().render(data))


def number_from(request: Request, name: str) -> int:
    """A query parameter that is a number from 0; 0 where it is missing."""
    text = request.query_params.get(name, "0")
    number = whole_number(text)
    if number is None:
        raise FieldRefusal(name, _("Got “%s”; expected a number from 0.") % text[:40])
    return number


def choice_from(request: Request, name: str, values: Sequence[str]) -> str:
    """A query parameter that is one of some words; "" where it is missing."""
    came = request.query_params.get(name, "")
    if came and came not in values:
        raise FieldRefusal(
            name,
            _("Got “%(came)s”; expected one of: %(values)s.")
            % {"came": came[:40].encode("ascii", "replace").decode(), "values": ", ".join(values)},
        )
    return came
