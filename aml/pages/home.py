"""``/`` and ``/docs/``: what this is and where to go on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aml.pages import cycles
from evaluations.models import CycleTrack
from leaderboard import access
from registration.models import Cycle
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    cycle = cycles.current()
    boards = [] if cycle is None else _boards(cycle)
    return render(request, "pages/home.html", {**cycles.context(cycle), "boards": boards})


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/docs.html", cycles.context(cycles.current()))


def _boards(cycle: Cycle) -> list[dict[str, object]]:
    """One line a track of the cycle: how many systems stand on each division's board."""
    counts = {division: access.row_counts(cycle, division=division) for division in DivisionChoice.values}
    tracks = CycleTrack.objects.filter(cycle=cycle).order_by("pk").values_list("track", flat=True)
    return [
        {
            "track": track,
            "title": TrackChoice(track).label,
            "divisions": [
                {"id": division, "title": DivisionChoice(division).label, "count": counts[division][track]}
                for division in DivisionChoice.values
            ],
        }
        for track in tracks
    ]
