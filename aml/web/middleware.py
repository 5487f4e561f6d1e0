"""What holds for every request and reply, whatever the view."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.utils.translation import gettext as _

from aml.web.errors import FieldRefusal

GetResponse = Callable[[HttpRequest], HttpResponse]


def refuse_nul(get_response: GetResponse) -> GetResponse:
    """PostgreSQL takes no NUL in a text, so no address may carry one into a query."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return _nul_refused(request)
        return get_response(request)

    return middleware


def _nul_refused(request: HttpRequest) -> HttpResponse:
    sentence = _("The address holds a NUL character.")
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": FieldRefusal("url", sentence).detail()}, status=400)
    return HttpResponseBadRequest(sentence, content_type="text/plain")


def keep_private(get_response: GetResponse) -> GetResponse:
    """Pages of somebody who is signed in are stored by nobody but their browser, and asked for anew."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        user = getattr(request, "user", None)
        if user is not None and user.is_authenticated and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"
        return response

    return middleware
