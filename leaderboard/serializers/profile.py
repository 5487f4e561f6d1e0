"""A system's public profile: what its division requires and what its participant chose to show."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from evaluations.models import Run
from evaluations.states import Publication, RunStatus
from leaderboard.builder import coverage, figures_of, measures_of
from leaderboard.models import BoardRow
from registration.models import Entry, Version
from registration.types import PUBLISHABLE_FIELDS, Division

ENDED = (RunStatus.SUCCEEDED, RunStatus.PARTIAL, RunStatus.FAILED)


def profile(entry: Entry) -> dict[str, Any]:
    """Plain JSON but for moments. Runs that are private, withdrawn or taken down only count."""
    registration = entry.registration
    rows = list(
        BoardRow.objects.filter(entry=entry, run__publication=Publication.PUBLISHED, cycle__is_public=True)
        .for_display()
        .select_related("run__score", "run__version", "contract__full_pack", "cycle")
        .order_by("track", "-run__accepted_at")
    )
    versions = {row.run.version_id: row.run.version for row in rows}
    return {
        "system": entry.name,
        "slug": entry.slug,
        "participant": registration.participant.name,
        "division": registration.division,
        "cycle": registration.cycle.slug,
        "withdrawn": entry.withdrawn_at is not None,
        "versions": [_version(version, division=registration.division) for version in versions.values()],
        "runs": [_run(row) for row in rows],
        "fulls": _fulls(entry),
    }


def _version(version: Version, *, division: str) -> dict[str, Any]:
    required = (
        {"repository": version.repository, "commit": version.commit, "licence": version.licence}
        if division == Division.OPEN_SOURCE
        else {"product_version": version.product_version}
    )
    chosen = {
        name: getattr(version, name)
        for name in PUBLISHABLE_FIELDS
        if name in version.public_fields and getattr(version, name)
    }
    return {"version": version.label, **required, **chosen}


def _run(row: BoardRow) -> dict[str, Any]:
    score = row.run.score
    return {
        "run": row.run.public_id,
        "track": row.track,
        "version": row.run.version.label,
        "cycle": row.cycle.slug,
        "is_current": row.is_current,
        "status": row.run.status,
        "offline": row.contract.offline,
        "unofficial": not row.contract.is_official_in(row.cycle),
        "overall": score.overall,
        "ci_low": score.ci_low,
        "ci_high": score.ci_high,
        "asks": score.asks,
        "scored": score.scored,
        "zero_by_failure": score.zero_by_failure,
        "coverage": coverage(scored=score.scored, asks=score.asks),
        "capabilities": _capabilities(row),
        "measures": measures_of(score.measures),
        "contract_hash": row.contract.hash,
        "published_at": row.published_at,
    }


def _capabilities(row: BoardRow) -> list[dict[str, Any]]:
    manifest = row.contract.full_pack.read_manifest()
    known = {one.id: one for one in manifest.capabilities}
    return [
        {
            "id": figure.id,
            "title": known[figure.id].title.model_dump(),
            "rubric": known[figure.id].rubric.model_dump(),
            "score": figure.score,
            "ci_low": figure.ci_low,
            "ci_high": figure.ci_high,
            "asks": figure.asks,
        }
        for figure in figures_of(row.run.score.capabilities)
    ]


def _fulls(entry: Entry) -> list[dict[str, Any]]:
    """How many Fulls were started, finished and withdrawn, by track: the best of many is not the board's."""
    fulls = Run.objects.fulls().filter(version__entry=entry)
    counted = fulls.order_by("track").values("track").annotate(
        started=Count("pk", filter=Q(first_add_at__isnull=False)),
        finished=Count("pk", filter=Q(status__in=ENDED)),
        withdrawn=Count("pk", filter=Q(publication=Publication.WITHDRAWN)),
    )  # fmt: skip
    return [dict(one) for one in counted]
