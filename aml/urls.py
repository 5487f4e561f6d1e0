"""Every address of the site. Chinese pages live under /zh-hans/."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from aml.pages import probes

# The admin's own log-in form knows neither rate limits nor a second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth asks for it

urlpatterns = [
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", probes.readyz, name="readyz"),
    path("robots.txt", probes.robots, name="robots"),
    path("api/v1/", include("aml.api_urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("favicon.ico", RedirectView.as_view(url="/static/img/icon.svg", permanent=True)),
]

urlpatterns += i18n_patterns(
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("evaluation/", include("registration.urls")),
    path("evaluation/", include("evaluations.urls")),
    path("", include("review.urls")),
    path("", include("leaderboard.urls")),
    path("", include("aml.pages.urls")),
    prefix_default_language=False,
)
