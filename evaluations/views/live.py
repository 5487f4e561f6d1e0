"""Fragments that a page asks for again and again: with an ETag, and an end."""

from __future__ import annotations

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.template.loader import render_to_string


def fragment(request: HttpRequest, template: str, context: dict[str, Any], *, over: bool) -> HttpResponse:
    """304 while nothing has changed. ``over`` ends the polling: the browser loads the page once more."""
    text = render_to_string(template, context, request=request)
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag and not over:
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = HttpResponse(text)
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    response["Vary"] = "Cookie, HX-Request"
    if over and request.headers.get("HX-Request"):
        response["HX-Refresh"] = "true"
    return response
