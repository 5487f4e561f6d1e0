"""Addresses of the boards and profiles, below ``/``."""

from __future__ import annotations

from django.urls import path

from leaderboard import views

app_name = "leaderboard"

urlpatterns = [
    path("leaderboard/", views.index, name="index"),
    path("leaderboard/<slug:track>/<slug:division>/", views.board, name="board"),
    path("systems/<slug:slug>/", views.system, name="system"),
]
