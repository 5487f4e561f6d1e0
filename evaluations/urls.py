"""Addresses of the desk, of checks and of runs, below ``/evaluation/``."""

from __future__ import annotations

from django.urls import path, re_path

from evaluations.views import checks, desk, exchanges, runs, starts

app_name = "evaluations"

urlpatterns = [
    path("", desk.desk, name="desk"),
    path("versions/<slug:public_id>/check/", checks.check_start, name="check_start"),
    path("versions/<slug:public_id>/smoke/", starts.smoke_start, name="smoke_start"),
    path("versions/<slug:public_id>/full/", starts.full_start, name="full_start"),
    path("checks/<slug:public_id>/", checks.check, name="check"),
    path("checks/<slug:public_id>/progress/", checks.check_progress, name="check_progress"),
    path("checks/<slug:public_id>/report.json", checks.check_report, name="check_report"),
    path("runs/<slug:public_id>/", runs.run, name="run"),
    path("runs/<slug:public_id>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<slug:public_id>/exchanges/", exchanges.exchanges, name="exchanges"),
    path("runs/<slug:public_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<slug:public_id>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<slug:public_id>/bundle.zip", runs.run_bundle, name="run_bundle"),
    re_path(
        r"^runs/(?P<public_id>[-\w]+)/results\.(?P<form>csv|json)$", runs.run_results, name="run_results"
    ),
]
