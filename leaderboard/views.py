"""The public boards and profiles. Reading only."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from aml.lib.tracks import Track
from aml.web.http import tagged
from leaderboard import access
from leaderboard.access import Place, Shown
from leaderboard.serializers import data, page
from leaderboard.serializers.profile import profile
from registration.models import Cycle
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice
from registration.types import Division


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The first board."""
    return redirect("leaderboard:board", track=Track.TEXTUAL, division=Division.OPEN_SOURCE)


@require_safe
def board(request: HttpRequest, track: str, division: str) -> HttpResponse:
    """``?cycle=`` another edition, ``?snapshot=N`` as it was, ``?sort=``, ``?format=csv|json``."""
    place = access.place_or_404(track=track, division=division, cycle=request.GET.get("cycle", ""))
    shown = access.shown_or_404(place, number=request.GET.get("snapshot", ""))
    if request.GET.get("format") in ("csv", "json") and shown.board is not None:
        return download(request, shown, kind=request.GET["format"])
    sort = request.GET.get("sort", page.BY_RANK)
    context = {
        "shown": shown,
        "board": page.board_page(shown, sort=sort, downloads=_downloads(shown)),
        "sorts": page.sort_choices(shown.board, current=sort),
        "cycle_title": page.cycle_title(place.cycle),
        "tracks": _track_tabs(place),
        "divisions": _division_tabs(place),
        "cycles": Cycle.objects.public().order_by("-opens_at"),
        "others": access.other_boards(shown),
        "snapshots": place.snapshots().defer("data")[:20],
        **_words(shown),
    }
    return render(request, "leaderboard/board.html", context)


@require_safe
def system(request: HttpRequest, slug: str) -> HttpResponse:
    entry = access.entry_or_404(slug)
    found = profile(entry)
    offline = any(run["offline"] for run in found["runs"])
    context = {"profile": found, "offline": offline, **page.profile_page(found)}
    return render(request, "leaderboard/system.html", context)


def download(request: HttpRequest, shown: Shown, *, kind: str) -> HttpResponse:
    """The board as a file with an ETag; 304 to who has it."""
    if shown.board is None:
        raise ValueError("there is no board to download")
    body = data.board_csv(shown.board, shown.snapshot) if kind == "csv" else data.board_json(shown)
    types = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
    response = HttpResponse(body, content_type=types[kind])
    response["Content-Disposition"] = f'attachment; filename="{_file_name(shown)}.{kind}"'
    patch_cache_control(response, public=True, max_age=0, must_revalidate=True)
    return tagged(request, response)


def _words(shown: Shown) -> dict[str, str]:
    place = shown.place
    number: dict[str, str | int] = {"snapshot": shown.snapshot.number} if shown.snapshot else {}
    return {
        "track_title": str(TrackChoice(place.track).label),
        "division_title": str(DivisionChoice(place.division).label),
        "newest_url": board_url(place),
        "snapshot_url": settings.SITE_URL + board_url(place, **number),
    }


def _file_name(shown: Shown) -> str:
    place = shown.place
    number = f"-{shown.snapshot.number}" if shown.snapshot else ""
    return f"aml-{place.cycle.slug}-{place.track}-{place.division}{number}"


def board_url(place: Place, **query: str | int) -> str:
    """A board's address; the cycle is named unless it is the current one."""
    address = reverse("leaderboard:board", args=[place.track, place.division])
    if not place.is_current:
        query = {"cycle": place.cycle.slug, **query}
    return f"{address}?{urlencode(query)}" if query else address


def _downloads(shown: Shown) -> dict[str, str]:
    number: dict[str, str | int] = {"snapshot": shown.snapshot.number} if shown.snapshot else {}
    return {kind: board_url(shown.place, **number, format=kind) for kind in ("csv", "json")}


def _track_tabs(place: Place) -> list[dict[str, object]]:
    counts = access.row_counts(place.cycle, division=place.division)
    return [
        {
            "title": TrackChoice(track).label,
            "href": board_url(replace(place, track=track)),
            "current": track == place.track,
            "count": counts[track],
        }
        for track in TrackChoice.values
    ]


def _division_tabs(place: Place) -> list[dict[str, object]]:
    return [
        {
            "title": DivisionChoice(division).label,
            "href": board_url(replace(place, division=division)),
            "current": division == place.division,
        }
        for division in DivisionChoice.values
    ]
