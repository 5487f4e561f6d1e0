"""What answers over HTTP share."""

from __future__ import annotations

from typing import TypeVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from aml.lib.canonical import sha256_hex

AnyResponse = TypeVar("AnyResponse", bound=HttpResponse)


def tagged(
    request: HttpRequest | Request, response: AnyResponse, *, content: str | bytes | None = None
) -> AnyResponse | HttpResponseBase:
    """``response`` with an ETag, or a 304 with its headers where the reader has it.

    The tag is over ``content``; without it over the response's own, which must be rendered by then.
    """
    data = response.content if content is None else content
    tag = f'"{sha256_hex(data.encode() if isinstance(data, str) else data)[:32]}"'
    response["ETag"] = tag
    plain = request._request if isinstance(request, Request) else request
    found: AnyResponse | HttpResponseBase = get_conditional_response(plain, etag=tag, response=response)
    return found
