"""What answers over HTTP share."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from aml.lib.canonical import sha256_hex


def tagged(
    request: HttpRequest | Request, response: HttpResponse, *, content: str | bytes | None = None
) -> HttpResponse:
    """``response`` with an ETag, or a 304 with its headers where the reader has it.

    The tag is over ``content``; without it over the response's own, which must be rendered by then.
    """
    data = response.content if content is None else content
    tag = f'"{sha256_hex(data.encode() if isinstance(data, str) else data)[:32]}"'
    response["ETag"] = tag
    plain = request._request if isinstance(request, Request) else request
    return get_conditional_response(plain, etag=tag, response=response) or response
