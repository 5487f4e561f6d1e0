"""``/benchmarks/``: what the systems are measured on. Of a private pack its facts, never its content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aml.pages import cycles
from aml.web import formats
from benchmarks.models import PackRelease
from benchmarks.types import Capability, Title
from evaluations.models import CycleTrack
from registration.models.entries import TrackChoice


@require_safe
def benchmarks(request: HttpRequest) -> HttpResponse:
    cycle = cycles.current()
    used = (
        CycleTrack.objects.filter(cycle=cycle, contract__isnull=False) if cycle else CycleTrack.objects.none()
    )
    roles = _roles(used.select_related("contract"))
    shown = PackRelease.objects.filter(complete=True).filter(Q(visibility="public") | Q(pk__in=roles))
    packs = [_facts(pack, roles=roles) for pack in shown.order_by("track", "pack", "version")]
    packs.sort(key=lambda pack: (not pack["used"], pack["track"]))
    return render(request, "pages/benchmarks.html", {"packs": packs, **cycles.context(cycle)})


def _roles(tracks: Iterable[CycleTrack]) -> dict[int, set[str]]:
    """What each pack is used for in the cycle: ``full``, ``smoke``."""
    roles: dict[int, set[str]] = {}
    for track in tracks:
        if track.contract is not None:
            roles.setdefault(track.contract.full_pack_id, set()).add("full")
            roles.setdefault(track.contract.smoke_pack_id, set()).add("smoke")
    return roles


def _facts(pack: PackRelease, *, roles: dict[int, set[str]]) -> dict[str, Any]:
    manifest = pack.read_manifest()
    return {
        "name": str(pack),
        "title": pack.title,
        "track": TrackChoice(pack.track).label,
        "private": pack.visibility == PackRelease.Visibility.PRIVATE,
        "licence": pack.licence,
        "attribution": pack.attribution,
        "source": manifest.source,
        "language": manifest.language,
        "hash": pack.hash,
        "counts": manifest.counts,
        "datasets": [(each.title, each.licence) for each in manifest.datasets],
        "capabilities": [_capability(each) for each in manifest.capabilities],
        "roles": sorted(roles.get(pack.pk, ())),
        "used": pack.pk in roles,
    }


def _capability(capability: Capability) -> dict[str, Any]:
    return {
        "id": capability.id,
        "title": _words(capability.title),
        "rubric": _words(capability.rubric),
        "weight": capability.weight,
    }


def _words(title: Title) -> tuple[tuple[str, str], tuple[str, str]]:
    """Both languages with their codes, the reader's first."""
    english, chinese = ("en", title.en), ("zh-Hans", title.zh)
    return (chinese, english) if formats.reader_language() == "zh" else (english, chinese)
