"""Fragments that a page asks for again and again: with an ETag, and an end."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from aml.web.http import tagged


def fragment(request: HttpRequest, template: str, context: dict[str, Any], *, over: bool) -> HttpResponse:
    """304 while nothing has changed. ``over`` ends the polling: the browser loads the page once more."""
    response = HttpResponse(render_to_string(template, context, request=request))
    response["Cache-Control"] = "private, no-cache"
    response["Vary"] = "Cookie, HX-Request"
    if not over:
        return tagged(request, response)
    if request.headers.get("HX-Request"):
        response["HX-Refresh"] = "true"
    return response
