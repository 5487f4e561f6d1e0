"""Addresses of the reviewers' pages, and of the participant's answer to them, below ``/``."""

from __future__ import annotations

from django.urls import path

from review import views

app_name = "review"

urlpatterns = [
    path("review/", views.queue, name="queue"),
    path("review/<slug:public_id>/", views.case, name="case"),
    path("review/<slug:public_id>/questions/", views.questions, name="questions"),
    path("evaluation/runs/<slug:public_id>/material/", views.material, name="material"),
]
