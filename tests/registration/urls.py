"""The app's pages alone, where the site puts them, with what their templates name."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("elsewhere")


pages = ([path("api/", page, name="api_guide")], "pages")

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("docs/", include(pages)),
    path("evaluation/", include("registration.urls")),
]
