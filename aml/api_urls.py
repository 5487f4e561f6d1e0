"""The REST interface, ``/api/v1/``."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView

from evaluations.api.docs import docs
from leaderboard import api as boards

app_name = "api"

urlpatterns = [
    path("", include("evaluations.api.urls")),
    path("boards/<slug:track>/<slug:division>", boards.board, name="board"),
    path("systems/<slug:slug>", boards.system, name="system"),
    path("audit", boards.audit_log, name="audit"),
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="schema"),
    path("docs/", docs, name="docs"),
]
