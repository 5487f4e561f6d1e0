"""Calls of a participant's way, below ``/api/v1/``."""

from __future__ import annotations

from django.urls import path

from evaluations.api import checks, me, public, runs

urlpatterns = [
    path("contract", public.contract, name="contract"),
    path("cycles/current", public.current_cycle, name="current_cycle"),
    path("tracks", public.tracks, name="tracks"),
    path("me", me.me, name="me"),
    path("checks", checks.checks, name="checks"),
    path("checks/<slug:public_id>", checks.check, name="check"),
    path("runs", runs.runs, name="runs"),
    path("runs/<slug:public_id>", runs.run, name="run"),
    path("runs/<slug:public_id>/events", runs.events, name="run_events"),
    path("runs/<slug:public_id>/attempts", runs.attempts, name="run_attempts"),
    path("runs/<slug:public_id>/cancel", runs.cancel, name="run_cancel"),
    path("runs/<slug:public_id>/resume", runs.resume, name="run_resume"),
    path("runs/<slug:public_id>/bundle", runs.bundle, name="run_bundle"),
]
